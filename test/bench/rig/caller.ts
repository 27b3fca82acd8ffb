// Calls the product beside the load: makes channels and devices, uses every password once, submits
// single updates and reads their status.

import { randomBytes } from 'node:crypto'

import { CHANNEL_COUNT } from './denominators.ts'
import type { Server } from './server.ts'

export const PASSWORD = 'bench-password'
/** scrypt takes two cores anyway; more at once would only wait. */
const REQUESTS_AT_ONCE = 4
/** A thing beside those of the workload, so that each of them begins without a stored state. */
const WARM_THING = 'warm'

/** A stopped gateway's directory: channels, and devices that together are subscribed to all. */
export interface Prepared {
  readonly directory: string
  readonly token: string
  readonly channels: readonly string[]
  readonly deviceKeys: readonly string[]
}

export class Caller {
  readonly #origin: string
  readonly #token: string

  constructor({ port }: Pick<Server, 'port'>, token: string) {
    this.#origin = `http://127.0.0.1:${port}`
    this.#token = token
  }

  /** The `data` of a success; anything else throws. */
  post(path: string, body: Readonly<Record<string, unknown>>): Promise<object> {
    return this.#ask(path, { method: 'POST', body: JSON.stringify(body) })
  }

  /** The `data` of a success; anything else throws. */
  get(path: string): Promise<object> {
    return this.#ask(path, { method: 'GET' })
  }

  /** Submits one update of a channel; gives its operation. Throws when it was not accepted. */
  async submit(channel: string): Promise<string> {
    return textOf(await this.post('/thing/update', updateOf(channel)), 'op_id')
  }

  async #ask(path: string, request: { method: string; body?: string }): Promise<object> {
    const response = await fetch(this.#origin + path, {
      ...request,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` },
    })
    const answer: unknown = await response.json()
    const data: unknown =
      typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'data') : undefined
    if (response.status === 200 && typeof data === 'object' && data !== null) return data
    throw new Error(`${path} answered ${response.status} ${JSON.stringify(answer)}`)
  }
}

const updateOf = (channel: string): Readonly<Record<string, unknown>> => ({
  channel_id: channel,
  password: PASSWORD,
  thing_id: WARM_THING,
  observed_at: Date.now(),
  attrs: { warmed: randomBytes(8).toString('hex') },
})

/**
 * Each has its part of the channels: a session has at most 256 entries unacknowledged, and one
 * device is not what a fleet's whole stream goes to. (decisions.md 10)
 */
const DEVICES = 32

/**
 * Makes the channels and the devices through the product's own API, one scrypt hash per channel.
 * Each channel is subscribed by one device, in turn.
 */
export async function fill(
  caller: Caller,
  channelCount = CHANNEL_COUNT,
): Promise<Pick<Prepared, 'channels' | 'deviceKeys'>> {
  const deviceKeys = await inTurns(DEVICES, async () =>
    textOf(await caller.post('/device/register', { platform: 'linux' }), 'device_key'),
  )
  const channels = await inTurns(channelCount, async (index) =>
    textOf(
      await caller.post('/channel/subscribe', {
        device_key: deviceKeys[index % DEVICES] ?? '',
        channel_name: `Bench ${index}`,
        password: PASSWORD,
      }),
      'channel_id',
    ),
  )
  await warm(caller, channels)
  return { channels, deviceKeys }
}

/** One submission a channel: from then on a node knows the password. */
export async function warm(caller: Caller, channels: readonly string[]): Promise<void> {
  await inTurns(channels.length, (index) => caller.submit(channels[index] ?? ''))
}

export function textOf(data: object, name: string): string {
  const value: unknown = Reflect.get(data, name)
  if (typeof value === 'string') return value
  throw new Error(`${name} is missing in ${JSON.stringify(data)}`)
}

/** Does 0 … count-1, REQUESTS_AT_ONCE at once; gives the results in order. */
async function inTurns<Result>(
  count: number,
  work: (index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) results[index] = await work(index)
  }
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, worker))
  return results
}
