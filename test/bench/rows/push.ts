// Pushes a second to the stand-in of a push service: a backlog of jobs, sent from when dispatch
// starts to the last one, against plain requests to the same stand-in: over HTTP/2 for Apple, over
// HTTP/1.1 for Web Push.

import { execFile, fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createPrivateKey, sign } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { subscriptionAt } from '#test/support/web-push-server'
import type { StandInStarted, Taken } from '#test/bench/push/stand-in'
import { spread } from '#test/bench/load/statistics'
import { Caller, PASSWORD, textOf } from '#test/bench/rig/caller'
import { databaseIn, newToken, startProduct } from '#test/bench/rig/gateway'
import { metricOf } from '#test/bench/rig/subject'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

const DEVICES = 32
const CHANNELS = 10
/** 64,000 pushes with the steps of 5 s that are the default. */
const MESSAGES_PER_SECOND = 400
const AT_ONCE = 32
const DONE_WITHIN_MS = 120_000
const POLL_MS = 250
const CPU_SECONDS = 'process_cpu_seconds_total'

/** One push service. */
interface Kind {
  readonly row: string
  readonly denominator: 'D9' | 'D10'
  readonly provider: 'apns' | 'webpush'
  readonly platform: 'ios' | 'web'
  readonly client: string
  readonly goal: Figure['goal']
  readonly tokenOf: (number: number, standIn: StandInStarted) => string
  /** The provider token of the plain client. */
  readonly plainToken: (env: StandInStarted['env']) => Promise<string>
}

const script = (name: string): string =>
  fileURLToPath(new URL(`../push/${name}.ts`, import.meta.url))

export const PUSH_ROW = rowOf({
  row: 'push',
  denominator: 'D9',
  provider: 'apns',
  platform: 'ios',
  client: 'plain-client',
  goal: { kind: 'ratio-at-least', must: 0.5, aim: 0.9 },
  tokenOf: (number) => number.toString(16).padStart(64, '0'),
  plainToken: providerToken,
})

export const PUSH_WEB_ROW = rowOf({
  row: 'push-web',
  denominator: 'D10',
  provider: 'webpush',
  platform: 'web',
  client: 'web-client',
  goal: { kind: 'ratio-at-least', must: 0.5, aim: 0.9 },
  tokenOf: (number, { port }) => subscriptionAt(`https://127.0.0.1:${port}/push/${number}`).json,
  plainToken: () => Promise.resolve('-'),
})

function rowOf(kind: Kind): Row {
  const { row: name, denominator } = kind
  return {
    name,
    async measure(session) {
      const product: number[] = []
      const cpuUs: number[] = []
      const plain: number[] = []
      for await (const directory of session.directories(name)) {
        await mkdir(directory, { recursive: true })
        const standIn = await StandIn.start(directory, kind)
        try {
          plain.push(await plainRate(standIn, session, kind))
          const messages = Math.ceil(session.options.secondsPerStep * MESSAGES_PER_SECOND)
          const sent = await productRate(standIn, directory, { ...kind, messages })
          product.push(sent.rate)
          cpuUs.push(sent.cpuUs)
        } finally {
          standIn.stop()
        }
        const [rate = 0, below = 0] = [product.at(-1), plain.at(-1)]
        const figures = `${Math.round(rate)}/s, ${denominator} ${Math.round(below)}/s`
        const cpu = `${Math.round(cpuUs.at(-1) ?? 0)} µs of CPU a push, all threads`
        session.options.say(`  ${name}: ${figures}, ${cpu}`)
      }
      return [figureOf(kind, { product, plain, cpuUs })]
    },
  }
}

function figureOf(
  { row, denominator, goal, provider }: Kind,
  { product, plain, cpuUs }: Readonly<Record<'product' | 'plain' | 'cpuUs', readonly number[]>>,
): Figure {
  const ratios = product.map((rate, run) => rate / (plain[run] ?? Number.NaN))
  return {
    row,
    unit: 'pushes/s',
    value: spread(product),
    denominator: { id: denominator, value: spread(plain), ratio: spread(ratios) },
    goal,
    details: { cpuUs, devices: DEVICES * CHANNELS, engine: 'embedded', provider },
  }
}

class StandIn {
  readonly started: StandInStarted
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, started: StandInStarted) {
    this.#child = child
    this.started = started
  }

  static async start(directory: string, { provider }: Kind): Promise<StandIn> {
    const child = fork(script('stand-in'), [directory, provider])
    const [started] = (await once(child, 'message')) as [StandInStarted]
    return new StandIn(child, started)
  }

  async taken(): Promise<Taken> {
    this.#child.send('taken')
    const [taken] = (await once(this.#child, 'message')) as [Taken]
    return taken
  }

  stop(): void {
    this.#child.disconnect()
  }
}

async function plainRate(
  standIn: StandIn,
  session: Session,
  { client, plainToken }: Kind,
): Promise<number> {
  const { env, port } = standIn.started
  const token = await plainToken(env)
  const seconds = String(session.options.secondsPerStep)
  await promisify(execFile)(
    process.execPath,
    [...process.execArgv, script(client), String(port), token, seconds],
    {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: env['NODE_EXTRA_CA_CERTS'] },
    },
  )
  return rateOf(await standIn.taken())
}

const rateOf = ({ pushes, tookMs }: Taken): number => (pushes / tookMs) * 1_000

/** As Apple wants it: ES256 over the key's and the team's names and the time. */
async function providerToken(env: StandInStarted['env']): Promise<string> {
  const key = createPrivateKey(await readFile(env['SERVICE_APNS_KEY_FILE'] ?? '', 'utf8'))
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const header = part({ alg: 'ES256', kid: env['SERVICE_APNS_KEY_ID'] })
  const claims = part({ iss: env['SERVICE_APNS_TEAM_ID'], iat: Math.floor(Date.now() / 1_000) })
  const text = Buffer.from(`${header}.${claims}`)
  const signature = sign('sha256', text, { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
  return `${header}.${claims}.${signature}`
}

/** Pushes a second, and what one costs the gateway in microseconds of CPU of all its threads. */
interface Sent {
  readonly rate: number
  readonly cpuUs: number
}

interface Backlog extends Kind {
  readonly messages: number
}

/** The jobs are made by a process that does not dispatch, and sent by the next one. */
async function productRate(standIn: StandIn, directory: string, kind: Backlog): Promise<Sent> {
  const wanted = kind.messages * DEVICES
  const token = newToken()
  const settings = {
    ...standIn.started.env,
    SERVICE_DATABASE_URL: `sqlite:${databaseIn(directory)}`,
    SERVICE_TOKEN: token,
  }
  const filling = await startProduct({ ...settings, SERVICE_ROLES: 'ingress,actors' })
  await fillJobs(new Caller(filling, token), standIn.started, kind)
  await filling.stop()
  const server = await startProduct(settings)
  try {
    const metric = (name: string): Promise<number> => metricOf(server, { token, name })
    const sent = (): Promise<number> => metric('heliograph_pushes_total')
    // What the start costs is not counted.
    const [before, beforeS] = [await sent(), await metric(CPU_SECONDS)]
    await poll('the pushes are sent', async () => (await sent()) >= wanted)
    const cpuS = (await metric(CPU_SECONDS)) - beforeS
    const taken = await standIn.taken()
    if (taken.pushes !== wanted) throw new Error(`${taken.pushes} of ${wanted} pushes`)
    return { rate: rateOf(taken), cpuUs: (cpuS / (wanted - before)) * 1e6 }
  } finally {
    await server.stop()
  }
}

async function fillJobs(
  caller: Caller,
  started: StandInStarted,
  { platform, provider: channel_type, tokenOf, messages }: Backlog,
): Promise<void> {
  const channels: string[] = []
  for (let channel = 0; channel < CHANNELS; channel += 1) {
    const name = { channel_name: `Push ${channel}`, password: PASSWORD }
    channels.push(textOf(await caller.post('/channel/create', name), 'channel_id'))
    for (let device = 0; device < DEVICES; device += 1) {
      const registered = await caller.post('/device/register', { platform })
      const device_key = textOf(registered, 'device_key')
      const provider_token = tokenOf(channel * DEVICES + device, started)
      await caller.post('/channel/device', { device_key, channel_type, provider_token })
      const channel_id = channels[channel] ?? ''
      await caller.post('/channel/subscribe', { device_key, channel_id, password: PASSWORD })
    }
  }
  let sent = 0
  let last = ''
  const lane = async (): Promise<void> => {
    while (sent < messages) {
      sent += 1
      const channel_id = channels[sent % CHANNELS] ?? ''
      const message = { channel_id, password: PASSWORD, title: 'a title', body: 'x'.repeat(80) }
      last = textOf(await caller.post('/message', message), 'op_id')
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  await poll('the last push is queued', async () => {
    const record = await caller.get(`/send_status/${last}`)
    return textOf(record, 'status') === 'provider_queued'
  })
}

/** Asks until it is so; rejects when that takes too long. */
async function poll(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + DONE_WITHIN_MS
  while (!(await isSo())) {
    if (performance.now() > untilMs) throw new Error(`${what}: not in time`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
