// Shows the deliveries to the device: on a screen that it redraws, as lines, or as JSON.

import type { WatchState } from '#src/client/watch'
import type { Delivery } from '#src/schemas/frames'
import { clockIn, deliveryJson, deliveryLine } from '#src/cli/deliveries/delivery-line'
import type { Terminal } from '#src/cli/process-context'
import type { Audience } from './audience.ts'
import { frameOf } from './frame.ts'
import { pushCount, pushJson, pushLine } from './push-audience.ts'
import type { PushAudience, TakenPush } from './push-audience.ts'
import { Screen } from './screen.ts'
import { summaryLine } from './tally.ts'
import type { Tally } from './tally.ts'

export interface Output {
  delivered(delivery: Delivery): void
  pushed(push: TakenPush): void
  connection(state: WatchState): void
  close(): void
}

export interface OutputOptions {
  readonly json: boolean
  readonly plain?: boolean | undefined
  readonly baseUrl: string
  readonly channelName: string
  readonly audience: Audience
  readonly tally: Tally
  readonly pushes?: PushAudience | undefined
}

export function outputFor(options: OutputOptions, terminal: Terminal): Output {
  const isDrawn = !options.json && options.plain !== true && terminal.screen() !== undefined
  return isDrawn ? screenOutput(options, terminal) : lineOutput(options, terminal)
}

function lineOutput({ json, channelName }: OutputOptions, terminal: Terminal): Output {
  const clock = clockIn()
  return {
    delivered: (delivery) =>
      terminal.print(
        json ? deliveryJson(delivery, channelName) : deliveryLine(delivery, { channelName, clock }),
      ),
    pushed: (push) => terminal.print(json ? pushJson(push) : pushLine(push, clock)),
    connection: (state) => {
      if (state.kind === 'waiting') terminal.printDiagnostic(waitingText(state))
    },
    close: () => {},
  }
}

function screenOutput(options: OutputOptions, terminal: Terminal): Output {
  const { audience, tally, baseUrl, channelName, pushes } = options
  const clock = clockIn()
  let connection = 'connecting'
  const screen = new Screen(terminal, (size) =>
    frameOf(
      {
        heading: `heliograph demo   ${baseUrl}   state of the subscribed device   Ctrl-C stops`,
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
