// Writes the numbers of Things as OpenMetrics text. (Specification: Scrape)
//
// Invariants:
//   metrics-text/1. It tells when it has more series or bytes than one answer may have, which is
//                   asked after each page.

import type { Event, Thing } from '#domain/entity'
import { facesOf } from '#domain/history/presentation'
import type { Presentation } from '#domain/history/presentation'
import { DEFAULT_SEVERITY } from '#domain/submission'

/** Series of one answer. */
export const SERIES_MAX = 50_000
/** Bytes of one answer. */
export const TEXT_BYTES_MAX = 16 * 2 ** 20

const ATTR = 'heliograph_thing_attr'
const UPDATED = 'heliograph_thing_updated_seconds'
const EVENTS = 'heliograph_events_open'

const HEADS = {
  [ATTR]: `# TYPE ${ATTR} gauge\n# HELP ${ATTR} A number of a Thing, as it is now.\n`,
  [UPDATED]:
    `# TYPE ${UPDATED} gauge\n# UNIT ${UPDATED} seconds\n` +
    `# HELP ${UPDATED} Unix time at which the newest update of a Thing was accepted.\n`,
  [EVENTS]: `# TYPE ${EVENTS} gauge\n# HELP ${EVENTS} Events that are open now.\n`,
}

/** The text of a channel, which grows by pages of its Things and Events. */
export class MetricsText {
  readonly #presentation: Presentation
  /** Only these attrs; all of them when it is empty. */
  readonly #attrs: ReadonlySet<string>
  readonly #values: string[] = []
  readonly #times: string[] = []
  readonly #open = new Map<string, number>()
  #series = 0
  #bytes = 0

  constructor(presentation: Presentation, attrs: readonly string[]) {
    this.#presentation = presentation
    this.#attrs = new Set(attrs)
  }

  /** True when it has more series or bytes than one answer may have. */
  get isTooLarge(): boolean {
    // metrics-text/1
    return this.#series + this.#open.size > SERIES_MAX || this.#bytes > TEXT_BYTES_MAX
  }

  addThings(things: readonly Thing[]): void {
    const active = things.filter(({ state }) => state === 'active')
    this.#add(
      this.#values,
      active.flatMap((thing) => this.#valueLines(thing)),
    )
    this.#add(this.#times, active.map(timeLine))
  }

  addEvents(events: readonly Event[]): void {
    for (const { fields } of events) {
      const { severity } = fields.values
      const name = typeof severity === 'string' ? severity : DEFAULT_SEVERITY
      this.#open.set(name, (this.#open.get(name) ?? 0) + 1)
    }
  }

  /** The whole text. */
  toString(): string {
    const open = [...this.#open].map(
      ([severity, count]) => `${EVENTS}${labelsOf({ severity })} ${count}\n`,
    )
    return [HEADS[ATTR], ...this.#values, HEADS[UPDATED], ...this.#times, HEADS[EVENTS], ...open]
      .concat('# EOF\n')
      .join('')
  }

  #add(texts: string[], lines: readonly string[]): void {
    const text = lines.join('')
    texts.push(text)
    this.#series += lines.length
    this.#bytes += Buffer.byteLength(text)
  }

  #valueLines(thing: Thing): readonly string[] {
    const faces = facesOf(this.#presentation, thing)
    return Object.entries(thing.attrs.values).flatMap(([attr, value]) => {
      if (typeof value !== 'number') return []
      if (this.#attrs.size > 0 && !this.#attrs.has(attr)) return []
      const { unit = '', hidden } = faces[attr] ?? {}
      if (hidden === true) return []
      const labels = { ...namesOf(thing), attr, ...(unit !== '' && { unit }) }
      return [`${ATTR}${labelsOf(labels)} ${value}\n`]
    })
  }
}

const timeLine = (thing: Thing): string =>
  `${UPDATED}${labelsOf(namesOf(thing))} ${(thing.heardAt ?? thing.changedAt) / 1000}\n`

function namesOf({ id, fields }: Thing): Readonly<Record<string, string>> {
  const { title } = fields.values
  return { thing: id, ...(typeof title === 'string' && { title }) }
}

const labelsOf = (labels: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return `{${pairs.join(',')}}`
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }
const escaped = (text: string): string => text.replace(/[\\"\n]/g, (one) => ESCAPES[one] ?? one)
