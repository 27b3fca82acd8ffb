// Shows the deliveries to the device: on a screen that it redraws, as lines, or as JSON.

import type { WatchState } from '#src/client/watch'
import type { Delivery } from '#src/schemas/frames'
import { clockIn, deliveryLine } from '#src/cli/deliveries/delivery-line'
import { deliveryJson } from '#src/cli/deliveries/delivery-members'
import type { Terminal } from '#src/cli/process-context'
import type { Audience } from './audience.ts'
import { frameOf } from './frame.ts'
import { pushCount, pushJson, pushLine } from './push-audience.ts'
import type { PushAudience, TakenPush } from './push-audience.ts'
import { summaryLine } from './tally.ts'
import type { Tally } from './tally.ts'
import type { FrameLine } from './frame.ts'

export interface Output {
  delivered(delivery: Delivery): void
  pushed(push: TakenPush): void
  connection(state: WatchState): void
  close(): void
}

interface OutputOptions {
  readonly json: boolean
  readonly plain?: boolean | undefined
  readonly baseUrl: string
  /** The address of the console. */
  readonly address: string
  readonly channelName: string
  readonly audience: Audience
  readonly tally: Tally
  readonly pushes?: PushAudience | undefined
}

export function outputFor(options: OutputOptions, terminal: Terminal): Output {
  const isDrawn = !options.json && options.plain !== true && terminal.screen() !== undefined
  return isDrawn ? screenOutput(options, terminal) : lineOutput(options, terminal)
}

function lineOutput({ json, channelName, address }: OutputOptions, terminal: Terminal): Output {
  const clock = clockIn()
  terminal.printDiagnostic(`console: ${address}`)
  return {
    delivered: (delivery) =>
      terminal.print(
        json
          ? deliveryJson({ delivery, channelName })
          : deliveryLine(delivery, { channelName, clock }),
      ),
    pushed: (push) => terminal.print(json ? pushJson(push) : pushLine(push, clock)),
    connection: (state) => {
      if (state.kind === 'waiting') terminal.printDiagnostic(waitingText(state))
    },
    close: () => {},
  }
}

function screenOutput(options: OutputOptions, terminal: Terminal): Output {
  const { audience, tally, baseUrl, address, channelName, pushes } = options
  const clock = clockIn()
  let connection = 'connecting'
  const screen = new Screen(terminal, (size) =>
    frameOf(
      {
        heading: `heliograph demo   ${baseUrl}   state of the subscribed device   Ctrl-C stops`,
        address,
        things: audience.things,
        openEvents: audience.openEvents,
        clock,
        recent: audience.recent.map((delivery) => deliveryLine(delivery, { channelName, clock })),
        pushes: pushes?.recent.map((push) => pushLine(push, clock)) ?? [],
        count: [
          summaryLine(tally.summary()),
          ...(pushes === undefined ? [] : [pushCount(pushes.counts)]),
          connection,
        ].join('   '),
      },
      size,
    ),
  )
  return {
    // The next frame shows deliveries and pushes.
    delivered: () => {},
    pushed: () => {},
    connection: (state) => {
      connection = state.kind === 'waiting' ? waitingText(state) : CONNECTION_TEXT[state.kind]
    },
    close: () => screen.close(),
  }
}

const CONNECTION_TEXT = { connecting: 'connecting', open: 'connected' } as const

const waitingText = ({ reason, delayMs }: Extract<WatchState, { kind: 'waiting' }>): string =>
  `${reason}; trying again in ${Math.ceil(delayMs / 1000)} s`

const REDRAW_MS = 250
const OPEN = '\u001b[?1049h\u001b[?25l'
const CLOSE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'
const bold = (text: string): string => `\u001b[1m${text}\u001b[22m`

interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

class Screen {
  readonly #terminal: Terminal
  readonly #frame: (size: ScreenSize) => readonly FrameLine[]
  readonly #timer: NodeJS.Timeout

  /** Opens at once and asks for a frame four times a second. */
  constructor(terminal: Terminal, frame: (size: ScreenSize) => readonly FrameLine[]) {
    this.#terminal = terminal
    this.#frame = frame
    terminal.draw(OPEN)
    process.once('exit', this.#restore)
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS)
  }

  close(): void {
    clearInterval(this.#timer)
    process.off('exit', this.#restore)
    this.#restore()
  }

  readonly #restore = (): void => this.#terminal.draw(CLOSE)

  #draw(): void {
    const size = this.#terminal.screen()
    if (size === undefined) return
    const lines = this.#frame(size).map(({ text, isHeading }) => {
      // Behind the last column of a row it would take the last character away.
      const isFull = text !== '' && text.length % size.columns === 0
      return (isHeading ? bold(text) : text) + (isFull ? '' : CLEAR_LINE)
    })
    this.#terminal.draw(HOME + lines.join('\r\n') + CLEAR_BELOW)
  }
}
