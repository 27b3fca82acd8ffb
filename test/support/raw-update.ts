// A thing update as text for a raw connection, and its answer as text.

import { CREDENTIALS, NOW_MS } from '#test/support/making'
import type { Raw } from '#test/support/start-ingress'

/** The head of a request that updates a thing, with more header lines. */
export const requestHead = (more: string): string =>
  `POST /thing/update HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${more}\r\n\r\n`

/** The body of a thing update, exactly this many bytes long. */
export function updateOf(bytes: number): string {
  const body = { ...CREDENTIALS, thing_id: 't', observed_at: NOW_MS, padding: '' }
  return JSON.stringify({ ...body, padding: 'x'.repeat(bytes - JSON.stringify(body).length) })
}

/** The status of the first answer in a text. */
export const statusOf = (received: string): string =>
  /^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? 'none'

/** The received text once it has a whole answer. */
export const answerOf = (raw: Raw): Promise<string> => raw.until(/\r\n\r\n.*\}$/s)
