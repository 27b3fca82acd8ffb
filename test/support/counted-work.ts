// Counts what an evaluation really does: reads of lists and maps by proxies in their place, and
// characters that methods of texts look at.

import type { Json } from '#domain/submission'

export interface Counter {
  count: number
}

/** The same value, whose reads are counted at every depth. */
export function watched<Value extends Json>(value: Value, counter: Counter): Value {
  if (typeof value !== 'object' || value === null) return value
  const seen = (): void => void (counter.count += 1)
  const shadow = Array.isArray(value)
    ? value.map((item: Json) => watched(item, counter))
    : Object.assign(
        Object.create(null) as object,
        Object.fromEntries(
          Object.entries(value).map(([name, item]) => [name, watched(item, counter)]),
        ),
      )
  return new Proxy(shadow, {
    get: (of, name, receiver) => (seen(), Reflect.get(of, name, receiver) as unknown),
    getOwnPropertyDescriptor: (of, name) => (seen(), Reflect.getOwnPropertyDescriptor(of, name)),
    ownKeys: (of) => (seen(), Reflect.ownKeys(of)),
  }) as Value
}

/** Runs a job; meanwhile each call of a method tells of itself before it does its work. */
export function telling<Result>(
  owner: object,
  name: string,
  told: (self: unknown, values: readonly unknown[]) => void,
  job: () => Result,
): Result {
  const own = Reflect.get(owner, name) as (...values: unknown[]) => unknown
  Reflect.set(owner, name, function tell(this: unknown, ...values: unknown[]): unknown {
    told(this, values)
    return Reflect.apply(own, this, values)
  })
  try {
    return job()
  } finally {
    Reflect.set(owner, name, own)
  }
}

const wholeOf = (text: string): number => text.length

/** Characters at which a method of texts looks. */
const LOOKS: readonly (readonly [name: string, of: (text: string, wanted: unknown) => number])[] = [
  ['charCodeAt', () => 1],
  ...['includes', 'indexOf', 'toLowerCase', 'toUpperCase', 'trim', 'match'].map(
    (name) => [name, wholeOf] as const,
  ),
  ...['startsWith', 'endsWith'].map(
    (name) =>
      [
        name,
        (text: string, wanted: unknown) => Math.min(text.length, String(wanted).length),
      ] as const,
  ),
]

/** Runs a job, and counts the characters at which methods of texts look meanwhile. */
export function countingTexts<Result>(counter: Counter, job: () => Result): Result {
  const counted = LOOKS.reduce<() => Result>(
    (inner, [name, of]) =>
      () =>
        telling(
          String.prototype,
          name,
          (text, [wanted]) => (counter.count += of(String(text), wanted)),
          inner,
        ),
    job,
  )
  return counted()
}
