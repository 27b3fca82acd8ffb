// The gateway's metrics, read from Prometheus text.

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** The samples of a text; comments and lines of another form are left out. */
export function samplesIn(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
    if (name === undefined || name.startsWith('#')) return []
    const pairs = [...labels.matchAll(LABEL)].map(([, key = '', of = '']) => [key, of] as const)
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })
}

export class Figures {
  readonly atMs: number
  readonly #samples: ReadonlyMap<string, readonly Sample[]>

  constructor(text: string, atMs: number) {
    this.atMs = atMs
    this.#samples = Map.groupBy(samplesIn(text), ({ name }) => name)
  }

  of(name: string): readonly Sample[] {
    return this.#samples.get(`heliograph_${name}`) ?? this.#samples.get(name) ?? []
  }

  /** The sum of a metric over all labels; undefined where the gateway has none of it. */
  sum(name: string): number | undefined {
    const samples = this.of(name)
    return samples.length === 0 ? undefined : samples.reduce((sum, { value }) => sum + value, 0)
  }

  /** Growth a second of a counter since earlier figures. */
  rate(name: string, before: Figures | undefined): number | undefined {
    const [now, then] = [this.sum(name), before?.sum(name)]
    if (now === undefined || then === undefined || before === undefined) return undefined
    const seconds = (this.atMs - before.atMs) / 1_000
    return seconds > 0 ? Math.max(0, now - then) / seconds : undefined
  }

  /** The bound below which this share of a histogram's values lies, since earlier figures. */
  quantile(name: string, share: number, before: Figures | undefined): number | undefined {
    const buckets = new Map<number, number>()
    const add = (figures: Figures | undefined, sign: number): void => {
      for (const { labels, value } of figures?.of(`${name}_bucket`) ?? []) {
        const bound = labels['le'] === '+Inf' ? Infinity : Number(labels['le'])
        buckets.set(bound, (buckets.get(bound) ?? 0) + sign * value)
      }
    }
    add(this, 1)
    add(before, -1)
    const bounds = [...buckets].toSorted(([a], [b]) => a - b)
    const all = bounds.at(-1)?.[1] ?? 0
    return all <= 0 ? undefined : bounds.find(([, count]) => count >= all * share)?.[0]
  }
}
