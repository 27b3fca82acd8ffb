// Requests of strangers: each asks for something new, so no cache answers it.

import { DUE_BASE_US } from './payload.ts'
import type { Prepared } from './payload.ts'

/** Kinds of requests that strangers send. */
export const STRANGERS = ['registrations', 'passwords', 'statuses'] as const
export type Stranger = (typeof STRANGERS)[number]

export interface StrangerRecipe {
  readonly stranger: Stranger
  /** The gateway token: with it no budget counts. */
  readonly token: string
  readonly channels: readonly string[]
}

const OP_ID_DIGITS = 32

/** One request a channel for passwords, else one for all; the due time makes each use its own. */
export function prepareStrangers({ stranger, ...recipe }: StrangerRecipe): readonly Prepared[] {
  switch (stranger) {
    case 'registrations':
      return [post('/device/register', { platform: 'linux' }, recipe)]
    case 'passwords':
      return recipe.channels.map((channel) =>
        post('/channel/info', { channel_id: channel, password: `guess-${DUE_BASE_US}` }, recipe),
      )
    case 'statuses':
      return [prepared(`GET /send_status/${opIdOf(DUE_BASE_US)} HTTP/1.1`, recipe, '')]
  }
}

/** The due time at the end of an op_id that no operation has. */
const opIdOf = (dueUs: number): string => String(dueUs).padStart(OP_ID_DIGITS, 'f')

function post(path: string, body: object, recipe: Pick<StrangerRecipe, 'token'>): Prepared {
  return prepared(`POST ${path} HTTP/1.1`, recipe, JSON.stringify(body))
}

function prepared(line: string, { token }: Pick<StrangerRecipe, 'token'>, body: string): Prepared {
  const text =
    `${line}\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const dueOffset = text.indexOf(String(DUE_BASE_US))
  return { bytes: Buffer.from(text, 'latin1'), ...(dueOffset >= 0 && { dueOffset }) }
}
