// Submissions from many senders at once, and a record of their outcomes.

import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'

/**
 * The outcome of a submission. `unknown`: the connection broke before an answer, so the gateway may
 * have it or not; `reason` is the system's name for the failure. `retryAfter` is the header, ''
 * without one.
 */
export type Told =
  | { readonly kind: 'accepted'; readonly opId: string }
  | {
      readonly kind: 'refused'
      readonly status: number
      readonly code: string
      readonly retryAfter: string
    }
  | { readonly kind: 'unknown'; readonly reason: string }

export interface Submission {
  readonly path: string
  readonly body: object
}

export interface Outcome {
  readonly submission: Submission
  readonly told: Told
}

export interface Sender {
  /** Sends one submission over a connection that is kept. Never rejects. */
  send(submission: Submission): Promise<Told>
  close(): void
}

/** A sender of its own connections. */
export function sender(baseUrl: string, token: string, connections: number): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  return {
    send: ({ path, body }) =>
      new Promise((resolve) => {
        const text = JSON.stringify(body)
        const headers = {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
          authorization: `Bearer ${token}`,
        }
        const sent = request(baseUrl + path, { method: 'POST', agent, headers }, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', (error) => resolve(unknown(error)))
          response.on('end', () => resolve(toldBy(response, chunks)))
        })
        sent.on('error', (error) => resolve(unknown(error)))
        sent.end(text)
      }),
    close: () => agent.destroy(),
  }
}

const unknown = (error: NodeJS.ErrnoException): Told => ({
  kind: 'unknown',
  reason: error.code ?? error.message,
})

function toldBy({ statusCode: status = 0, headers }: IncomingMessage, chunks: Buffer[]): Told {
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as {
      readonly data?: { readonly op_id: string }
      readonly error_code?: string
    }
    if (status === 200 && body.data !== undefined)
      return { kind: 'accepted', opId: body.data.op_id }
    const retryAfter = headers['retry-after'] ?? ''
    return { kind: 'refused', status, code: body.error_code ?? '', retryAfter }
  } catch {
    return { kind: 'unknown', reason: `no envelope with status ${status}` }
  }
}

/** Sends with `width` requests under way until `next` gives nothing more. */
export async function drive(
  submitting: Pick<Sender, 'send'>,
  width: number,
  next: () => Submission | undefined,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  const lane = async (): Promise<void> => {
    for (let submission = next(); submission !== undefined; submission = next()) {
      outcomes.push({ submission, told: await submitting.send(submission) })
    }
  }
  await Promise.all(Array.from({ length: width }, lane))
  return outcomes
}
