// Reads the values of a rule, and words what is wrong with the first bad one.

import { isRecord, isSafeText, UNSAFE_RULE } from '#domain/record'
import { DURATION_RULE, durationMs } from './durations.ts'

/** The first fault of a rule: the path of a member, and the rule that it breaks. */
export class Wrong extends Error {
  readonly path: string
  readonly rule: string

  constructor(path: string, rule: string) {
    super(`${path}: ${rule}`)
    this.path = path
    this.rule = rule
  }
}

/** Characters as people and JSON Schema count them: one outside the basic plane is one. */
export const charactersIn = (text: string): number => Array.from(text).length

/** One value of a rule and its path. Methods throw Wrong, which `readRule` catches. */
export class Sent {
  readonly value: unknown
  readonly path: string

  constructor(value: unknown, path: string) {
    this.value = value
    this.path = path
  }

  wrong(rule: string): never {
    throw new Wrong(this.path, rule)
  }

  /** True for a member that is not sent; null counts as absent. */
  get isAbsent(): boolean {
    return this.value === undefined || this.value === null
  }

  /** Returns the members by name. Refuses unknown ones, the first by its own path. */
  members<Name extends string>(names: readonly Name[]): Readonly<Record<Name, Sent>> {
    const { value, path } = this
    if (!isRecord(value)) return this.wrong('must be an object')
    const known: readonly string[] = names
    const stranger = Object.keys(value).find((name) => !known.includes(name))
    if (stranger !== undefined) {
      throw new Wrong(`${path}.${stranger}`, `is not known; known are ${names.join(', ')}`)
    }
    const named = names.map((name) => [name, new Sent(value[name], `${path}.${name}`)] as const)
    return Object.fromEntries(named) as Record<Name, Sent>
  }

  list(min: number, max: number): readonly Sent[] {
    const { value, path } = this
    if (!Array.isArray(value) || value.length < min || value.length > max) {
      return this.wrong(`must be a list of ${min === max ? min : `${min} to ${max}`}`)
    }
    return value.map((item: unknown, index) => new Sent(item, `${path}[${index}]`))
  }

  text(max: number): string {
    const { value } = this
    if (typeof value !== 'string' || value.trim() === '' || charactersIn(value) > max) {
      return this.wrong(`must be a text of 1 to ${max} characters`)
    }
    return isSafeText(value) ? value : this.wrong(UNSAFE_RULE)
  }

  /** The name of an attr, which may be any text, an empty one too. */
  name(max: number): string {
    const { value } = this
    if (typeof value !== 'string' || charactersIn(value) > max) {
      return this.wrong(`must be a name of at most ${max} characters`)
    }
    return isSafeText(value) ? value : this.wrong(UNSAFE_RULE)
  }

  optionalText(max: number): string | undefined {
    return this.isAbsent ? undefined : this.text(max)
  }

  number(): number {
    const { value } = this
    return typeof value === 'number' && Number.isFinite(value)
      ? value
      : this.wrong('must be a number')
  }

  boolean(): boolean {
    return typeof this.value === 'boolean' ? this.value : this.wrong('must be true or false')
  }

  scalar(): string | number | boolean {
    const { value } = this
    if (typeof value === 'string') return isSafeText(value) ? value : this.wrong(UNSAFE_RULE)
    if (typeof value === 'boolean' || typeof value === 'number') return value
    return this.wrong('must be a text, a number, true or false')
  }

  oneOf<Word extends string>(words: readonly Word[]): Word {
    const word = words.find((known) => known === this.value)
    return word ?? this.wrong(`must be one of ${words.join(', ')}`)
  }

  /** Milliseconds; 0 when absent. */
  duration(): number {
    return this.isAbsent ? 0 : (durationMs(this.value) ?? this.wrong(DURATION_RULE))
  }

  /** The ids of a list, each in the form that `parse` checks. */
  ids<Id>(parse: (text: string) => Id | undefined, max: number): readonly Id[] {
    return this.list(1, max).map((item) => {
      const id = typeof item.value === 'string' ? parse(item.value) : undefined
      return id ?? item.wrong('must be 1 to 64 letters, digits, _, : or -')
    })
  }
}
