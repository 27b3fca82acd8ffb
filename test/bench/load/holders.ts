// Requests of those who hold a key, each of which costs the gateway more than it costs them. What
// they need beforehand, as rules, is made by the row.

import type { Prepared } from './payload.ts'

/** Kinds of requests that holders of a key send. */
export const HOLDERS = ['expressions', 'trials', 'toggles'] as const
export type Holder = (typeof HOLDERS)[number]

export interface HolderRecipe {
  readonly holder: Holder
  /** The gateway token. */
  readonly token: string
  /** The key of the channel. */
  readonly key: string
}

const OBSERVED_AT = 10 ** 12
/** Texts of which each place of the long one is compared with all of the short one. */
const LONG = 'a'.repeat(20_000)
const SHORT = `${'a'.repeat(5_000)}b${'a'.repeat(5_000)}`

const sum = (term: string, times: number): string => Array(times).fill(term).join('+')

/** Rules whose expressions cost their Thing the product of two lengths, and a text of megabytes. */
export const EXPRESSION_RULES: readonly object[] = [
  { cel: 'attrs.long.contains(attrs.short)' },
  { cel: `size([${sum('attrs.long', 12)}].map(x, ${sum('x', 30)})[0]) > 1` },
].map((when) => ({ things: 'all', when, event: { title: '{thing.id}' } }))

/** A rule that fires with each reading that is on, and clears with each that is off. */
export const TOGGLED_RULE = {
  things: 'all',
  when: { attr: 'on', equals: true },
  event: { title: '{thing.id}' },
}

/** Returns requests that are sent in turn. */
export function prepareHolders({ holder, token, key }: HolderRecipe): readonly Prepared[] {
  const update = (attrs: object): Prepared =>
    prepared('/thing/update', token, {
      password: key,
      thing_id: 'attacker',
      observed_at: OBSERVED_AT,
      attrs,
    })
  switch (holder) {
    case 'expressions':
      return [0, 1].map((n) => update({ long: LONG, short: SHORT, n }))
    case 'trials':
      return [prepared('/rule/test', token, { password: key, rule: TOGGLED_RULE })]
    case 'toggles':
      return [true, false].map((on) => update({ on }))
  }
}

function prepared(path: string, token: string, content: object): Prepared {
  const body = JSON.stringify(content)
  const text =
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const name = '"observed_at":'
  const at = text.indexOf(name)
  return {
    bytes: Buffer.from(text, 'latin1'),
    ...(at >= 0 && { observedAtOffset: at + name.length }),
  }
}
