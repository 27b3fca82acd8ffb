// A fleet sender over a fetch whose answers the test gives one by one; time moves only when the test
// moves it.

import { createFleetSender } from '#src/client/fleet'
import type { FleetOptions, FleetOutcome } from '#src/client/fleet'
import type { FleetSubmission } from '#src/client/fleet-queue'
import { WEB } from '#src/client/runtime'
import { fakeFetch, refusal, success } from '#test/support/fake-fetch'
import { FakeTime } from '#test/support/fake-timers'
import { turn } from '#test/support/until'

interface Request {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly answer: (response: Response | Error) => Promise<void>
}

/** A sender whose requests, pauses and outcomes the test sees. */
export function fleetRig(options: Partial<FleetOptions<string>> = {}) {
  const requests: Request[] = []
  const outcomes: FleetOutcome<string>[] = []
  const delays: number[] = []
  const reported: unknown[] = []
  const time = new FakeTime(0)
  const sender = createFleetSender<string>({
    baseUrl: 'http://gateway',
    runtime: {
      ...WEB,
      random: (below) => Math.floor(below / 2),
      report: (error) => void reported.push(error),
      after: (delayMs, callback) => {
        delays.push(delayMs)
        return time.after(delayMs, callback)
      },
    },
    fetch: fakeFetch(({ path, body }) => {
      const { promise, resolve, reject } = Promise.withResolvers<Response>()
      const answer = async (response: Response | Error): Promise<void> => {
        if (response instanceof Error) reject(response)
        else resolve(response)
        await settled()
      }
      requests.push({ path, body, answer })
      return promise
    }),
    onOutcome: (outcome) => void outcomes.push(outcome),
    ...options,
  })
  const said = (): readonly string[] =>
    outcomes.map(({ kind, submission }) => `${submission.tag ?? ''} ${kind}`)
  const tagsUnderWay = (): readonly unknown[] => requests.map(({ body }) => body['title'])
  return { sender, requests, outcomes, delays, time, said, tagsUnderWay, reported }
}

/** Everything that can happen without an answer or a timer has happened. */
export const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 5; turns += 1) await turn()
}

export const CHANNEL = { channel_id: 'A', password: 'p' }

export const reading = (thing_id: string, tag: string): FleetSubmission<string> => ({
  tag,
  model: 'thing',
  action: 'update',
  body: { ...CHANNEL, thing_id, observed_at: 1, title: tag },
})

export const message = (tag: string, more: object = {}): FleetSubmission<string> => ({
  tag,
  model: 'message',
  action: 'send',
  body: { ...CHANNEL, title: tag, ...more },
})

/** Sends submissions in turn, and lets everything happen that needs no answer. */
export async function sendAll(
  { sender }: ReturnType<typeof fleetRig>,
  submissions: readonly FleetSubmission<string>[],
): Promise<void> {
  for (const submission of submissions) await sender.send(submission)
  await settled()
}

export const OK = (): Response => success({ op_id: 'o', thing_id: 't' })
export const busy = (code = 'server_busy', seconds = '2'): Response =>
  refusal(503, code, { retryable: true, headers: { 'retry-after': seconds } })
export const UNKNOWN = (): Response => refusal(503, 'submission_outcome_unknown')
export const refusedConnection = (): Error =>
  new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
