// Requests of strangers: each asks for something new, so no cache answers it.

import { DUE_BASE_US } from './payload.ts'
import type { Prepared } from './payload.ts'

/** Kinds of requests that strangers send. */
export const STRANGERS = ['metadata', 'oauth', 'passwords', 'statuses', 'registrations'] as const
export type Stranger = (typeof STRANGERS)[number]

export interface StrangerRecipe {
  readonly stranger: Stranger
  /** The gateway token: with it no budget counts. */
  readonly token: string
  readonly channels: readonly string[]
  /** A registered client of the authorization server. */
  readonly clientId: string
}

/** The address to which a client is sent back. */
export const REDIRECT_URI = 'http://127.0.0.1:4711/callback'

const OP_ID_DIGITS = 32
/** The longest that the authorization server takes. */
const STATE_BYTES = 2_048
/** So many that within a minute none is beyond its own budget. */
const ADDRESSES = 2_048
const JSON_TYPE = 'content-type: application/json\r\n'
const FORM_TYPE = 'content-type: application/x-www-form-urlencoded\r\n'
/** Of the form that PKCE asks for. (RFC 7636) */
const CHALLENGE = 'c'.repeat(43)

/** Returns requests that are sent in turn; the due time makes each use of one its own. */
export function prepareStrangers({ stranger, ...recipe }: StrangerRecipe): readonly Prepared[] {
  const { token, channels, clientId } = recipe
  const known = `authorization: Bearer ${token}\r\n${JSON_TYPE}`
  switch (stranger) {
    case 'metadata':
      return fromEach((from) => [
        prepared(authorization(`https://c${DUE_BASE_US}.example/client`, 'state'), from, ''),
      ])
    case 'oauth':
      return fromEach((from) => oauthRequests(clientId, from))
    case 'registrations':
      return [prepared('POST /device/register', known, JSON.stringify({ platform: 'linux' }))]
    case 'passwords':
      return channels.map((channel_id) => {
        const body = { channel_id, password: `guess-${DUE_BASE_US}` }
        return prepared('POST /channel/info', known, JSON.stringify(body))
      })
    case 'statuses':
      return [prepared(`GET /send_status/${opIdOf(DUE_BASE_US)}`, known, '')]
  }
}

/** The due time at the end of an op_id that no operation has. */
const opIdOf = (dueUs: number): string => String(dueUs).padStart(OP_ID_DIGITS, 'f')

/** Requests of each address, which a trusted proxy tells. */
const fromEach = (requestsOf: (from: string) => readonly Prepared[]): readonly Prepared[] =>
  Array.from({ length: ADDRESSES }, (_, index) =>
    requestsOf(`x-forwarded-for: 198.18.${index >> 8}.${index & 255}\r\n`),
  ).flat()

function oauthRequests(clientId: string, from: string): readonly Prepared[] {
  const metadata = { redirect_uris: [REDIRECT_URI], client_name: `Assistant ${DUE_BASE_US}` }
  const exchange = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: clientId,
    code: String(DUE_BASE_US).padEnd(CHALLENGE.length, 'c'),
    redirect_uri: REDIRECT_URI,
    code_verifier: CHALLENGE,
  })
  return [
    prepared(authorization(clientId, String(DUE_BASE_US).padEnd(STATE_BYTES, 's')), from, ''),
    prepared('POST /oauth/register', from + JSON_TYPE, JSON.stringify(metadata)),
    prepared('POST /oauth/token', from + FORM_TYPE, exchange.toString()),
  ]
}

function authorization(clientId: string, state: string): string {
  const query = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    state,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
  })
  return `GET /oauth/authorize?${query.toString()}`
}

function prepared(line: string, headers: string, body: string): Prepared {
  const text =
    `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}` +
    `content-length: ${body.length}\r\n\r\n${body}`
  const dueOffset = text.indexOf(String(DUE_BASE_US))
  return { bytes: Buffer.from(text, 'latin1'), ...(dueOffset >= 0 && { dueOffset }) }
}
