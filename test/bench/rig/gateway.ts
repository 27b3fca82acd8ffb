// The product as a subject: `node src/main.ts` on a copy of a database prepared once.

import { randomBytes } from 'node:crypto'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { countRows } from './database.ts'
import type { CountQueries } from './database.ts'
import { CHANNEL_COUNT, THING_COUNT } from './denominators.ts'
import { startServer } from './server.ts'
import type { Server } from './server.ts'
import { operationsEnded } from './subject.ts'
import type { Subject } from './subject.ts'

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
const PASSWORD = 'bench-password'
/** scrypt takes two cores anyway; more at once would only wait. */
const REQUESTS_AT_ONCE = 4
const DATABASE = 'gateway.db'
const QUERIES: CountQueries = {
  operations: 'SELECT count(*) FROM operations',
  revisions: `SELECT sum(json_extract(document, '$.rev')) FROM things`,
  feed: 'SELECT (SELECT count(*) FROM thing_updates) + (SELECT count(*) FROM feed_entries)',
}
/** A thing beside those of the workload, so that each of them begins without a stored state. */
const WARM_THING = 'warm'

/** A stopped gateway's directory: channels, and one device that is subscribed to all of them. */
export interface Prepared {
  readonly directory: string
  readonly token: string
  readonly channels: readonly string[]
  readonly deviceKeys: readonly string[]
}

/** Makes the channels and the device through the product's own API: one scrypt hash per channel. */
export async function prepareGateway(directory: string): Promise<Prepared> {
  await mkdir(directory, { recursive: true })
  const token = randomBytes(16).toString('hex')
  const server = await startGateway(directory, token)
  try {
    return { directory, token, ...(await fill(new Caller(server, token))) }
  } finally {
    await server.stop()
  }
}

async function fill(caller: Caller): Promise<Pick<Prepared, 'channels' | 'deviceKeys'>> {
  const deviceKey = textOf(
    await caller.post('/device/register', { platform: 'linux' }),
    'device_key',
  )
  const channels = await inTurns(CHANNEL_COUNT, async (index) =>
    textOf(
      await caller.post('/channel/subscribe', {
        device_key: deviceKey,
        channel_name: `Bench ${index}`,
        password: PASSWORD,
      }),
      'channel_id',
    ),
  )
  await warm(caller, channels)
  return { channels, deviceKeys: [deviceKey] }
}

/** Starts the product on a copy of what was prepared and lets it verify every password once. */
export async function startPrepared(prepared: Prepared, directory: string): Promise<Subject> {
  await cp(prepared.directory, directory, { recursive: true })
  const { token, channels, deviceKeys } = prepared
  const server = await startGateway(directory, token)
  try {
    await warm(new Caller(server, token), channels)
  } catch (error) {
    await server.stop()
    throw error
  }
  return {
    name: 'gateway',
    server,
    recipe: { path: '/thing/update', token, password: PASSWORD, channels, thingCount: THING_COUNT },
    deviceKeys,
    applied: () => operationsEnded(server, token),
    count: () => countRows(databaseIn(directory), QUERIES),
    ran: {
      engine: 'embedded (node:sqlite)',
      sync: 'as the product starts by default: fsync before each 200',
      lanes: '16 (default)',
      batch: 'default limits (256 submissions or 256 KiB per lane)',
      processes: '1, with its worker thread',
    },
  }
}

/** `node src/main.ts`, as a user would start it. */
export function startGateway(directory: string, token: string): Promise<Server> {
  return startServer(MAIN, {
    SERVICE_DATABASE_URL: `sqlite:${databaseIn(directory)}`,
    SERVICE_TOKEN: token,
  })
}

export const databaseIn = (directory: string): string => join(directory, DATABASE)

/**
 * One update of one channel, as the first request of a client would be; true when it was accepted.
 */
export async function submitOnce(server: Server, prepared: Prepared): Promise<boolean> {
  const [channel = ''] = prepared.channels
  try {
    await new Caller(server, prepared.token).post('/thing/update', updateOf(channel))
    return true
  } catch {
    // Not ready yet: whoever asks tries again, within a limit of its own.
    return false
  }
}

async function warm(caller: Caller, channels: readonly string[]): Promise<void> {
  await inTurns(channels.length, (index) =>
    caller.post('/thing/update', updateOf(channels[index] ?? '')),
  )
}

const updateOf = (channel: string): Readonly<Record<string, unknown>> => ({
  channel_id: channel,
  password: PASSWORD,
  thing_id: WARM_THING,
  observed_at: Date.now(),
  attrs: { warmed: randomBytes(8).toString('hex') },
})

class Caller {
  readonly #origin: string
  readonly #token: string

  constructor({ port }: Server, token: string) {
    this.#origin = `http://127.0.0.1:${port}`
    this.#token = token
  }

  /** The `data` of a success; anything else throws. */
  async post(path: string, body: Readonly<Record<string, unknown>>): Promise<object> {
    const response = await fetch(this.#origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` },
      body: JSON.stringify(body),
    })
    const answer: unknown = await response.json()
    const data: unknown =
      typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'data') : undefined
    if (response.status === 200 && typeof data === 'object' && data !== null) return data
    throw new Error(`${path} answered ${response.status} ${JSON.stringify(answer)}`)
  }
}

function textOf(data: object, name: string): string {
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
