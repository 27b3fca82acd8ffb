// Draws frames on the whole terminal, and restores what the terminal showed before.

import type { Terminal } from '#src/cli/process-context'
import type { FrameLine } from './frame.ts'

const REDRAW_MS = 250
const OPEN = '\u001b[?1049h\u001b[?25l'
const CLOSE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'
const bold = (text: string): string => `\u001b[1m${text}\u001b[22m`

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

export class Screen {
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
    const lines = this.#frame(size).map(({ text, isHeading }) => (isHeading ? bold(text) : text))
    this.#terminal.draw(HOME + lines.map((line) => line + CLEAR_LINE).join('\r\n') + CLEAR_BELOW)
  }
}
