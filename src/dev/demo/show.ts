// Runs the demo: a channel, a device that watches it, and readings once a second.

import { spawn } from 'node:child_process'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import type { Client } from '#src/client/client'
import { watch } from '#src/client/watch'
import { makePassword } from '#src/cli/make-password'
import { CommandError } from '#src/cli/endings'
import type { Credentials } from '#src/cli/access'
import { aborted } from '#src/dev/own-program'
import { Computer } from './readings.ts'
import type { ProcessContext } from '#src/cli/process-context'
import { thisPlatform } from '#src/cli/this-device'
import { throwFailureOf } from '#src/cli/commands/watch'
import { Audience } from './audience.ts'
import { outputFor } from './output.ts'
import { Publisher, Sender, demoRules } from './publisher.ts'
import type { PushAudience } from './push-audience.ts'
import { Tally } from './tally.ts'
import type { Summary } from './tally.ts'

const PERIOD_MS = 1000
const LAST_DELIVERIES_WITHIN_MS = 2000
const CHECK_MS = 20

export interface ShowOptions {
  readonly baseUrl: string
  /** A secret. */
  readonly token: string | undefined
  readonly json: boolean
  readonly plain?: boolean | undefined
  readonly seconds?: number | undefined
  readonly threshold: number
  readonly stopped: AbortSignal
  /** True to open the console in the person's browser. */
  readonly isOpened?: boolean | undefined
  /** True for a gateway that ends with the demo. On another one the demo deletes its channel. */
  readonly isOwnGateway: boolean
  /** Devices that the gateway reaches by push; absent without any. */
  readonly pushes?: PushAudience | undefined
}

/** Runs until `stopped` is aborted or the seconds are over. Gives the counts and latencies. */
export async function runShow(options: ShowOptions, context: ProcessContext): Promise<Summary> {
  const { baseUrl, token, stopped } = options
  const client = createClient({ baseUrl, token, fetch: context.fetch })
  const { credentials, deviceKey, channelName } = await prepare(client, options.threshold)
  await options.pushes?.join(client, credentials)
  const tally = new Tally()
  const audience = new Audience(credentials.channel_id, tally)
  // Secrets of a gateway that goes on stand in no address.
  const access = { channelId: credentials.channel_id, password: credentials.password, token }
  const address = consoleAddress(baseUrl, options.isOwnGateway ? access : undefined)
  if (options.isOpened === true) {
    openBrowser(address, () => context.terminal.printDiagnostic('no browser could be opened'))
  }
  const output = outputFor({ ...options, address, audience, tally, channelName }, context.terminal)
  options.pushes?.onPush((push) => output.pushed(push))
  const opened = Promise.withResolvers<void>()
  const session = watch({
    baseUrl,
    deviceKey,
    token,
    client: 'heliograph demo',
    onEntry: (delivery) => {
      audience.received(delivery, context.monotonicMs())
      output.delivered(delivery)
    },
    onGap: (gap) => audience.missed(gap),
    onState: (state) => {
      output.connection(state)
      if (state.kind === 'open') opened.resolve()
    },
  })
  const isOver = new AbortController()
  void session.ended.then(() => isOver.abort())
  const until = AbortSignal.any([stopped, isOver.signal])
  try {
    await Promise.race([opened.promise, aborted(until)])
    await publish({ client, credentials, tally, until, options }, context)
    await lastDeliveries(tally)
  } finally {
    await session.close()
    output.close()
    if (!options.isOwnGateway) await client.channel.delete(credentials)
  }
  throwFailureOf(await session.ended)
  return tally.summary()
}

interface Prepared {
  readonly credentials: Credentials & { readonly channel_id: ChannelId }
  /** A secret. */
  readonly deviceKey: string
  readonly channelName: string
}

async function prepare(client: Client, threshold: number): Promise<Prepared> {
  const password = makePassword()
  const channelName = hostname().slice(0, 64) || 'this computer'
  const created = await client.channel.create({ channel_name: channelName, password })
  const channelId = parseChannelId(created.channel_id)
  if (channelId === undefined) throw new CommandError('the gateway gave no usable channel_id')
  const credentials = { channel_id: channelId, password }
  for (const [rule_id, rule] of Object.entries(demoRules(threshold))) {
    await client.rule.put({ ...credentials, rule_id, rule })
  }
  const { device_key: deviceKey } = await client.device.register({ platform: thisPlatform() })
  await client.channel.subscribe({ ...credentials, device_key: deviceKey })
  return { credentials, deviceKey, channelName }
}

interface Publishing {
  readonly client: Client
  readonly credentials: Credentials
  readonly tally: Tally
  readonly until: AbortSignal
  readonly options: ShowOptions
}

/** Publishes once a second. A round that takes longer delays the next one, so that none overlap. */
async function publish(
  { client, credentials, tally, until, options }: Publishing,
  { nowMs, monotonicMs }: ProcessContext,
): Promise<void> {
  const sender = new Sender(tally, monotonicMs)
  const ports = { client, credentials, sender, nowMs }
  const publisher = new Publisher(ports)
  const computer = new Computer(monotonicMs)
  const seconds = options.seconds ?? Number.POSITIVE_INFINITY
  let nextMs = monotonicMs()
  for (let second = 0; second < seconds && !until.aborted; second += 1) {
    await publisher.publish(await computer.read())
    nextMs = Math.max(nextMs + PERIOD_MS, monotonicMs())
    await pause(nextMs - monotonicMs(), until)
  }
}

/** Waits a moment for the deliveries that have not arrived yet. */
async function lastDeliveries(tally: Tally): Promise<void> {
  for (let waited = 0; waited < LAST_DELIVERIES_WITHIN_MS; waited += CHECK_MS) {
    if (tally.isComplete) return
    await delay(CHECK_MS)
  }
}

async function pause(delayMs: number, until: AbortSignal): Promise<void> {
  // An abort ends the pause early; that is no error.
  await delay(Math.max(0, delayMs), undefined, { signal: until }).catch(() => {})
}

// The address of the console for the demo's channel, and the browser that opens it.

/** The secrets and names that a link to the demo's gateway carries. They end with the demo. */
interface DemoAccess {
  readonly channelId: string
  /** A secret. */
  readonly password: string
  /** A secret. */
  readonly token: string | undefined
}

/**
 * The address of the console. With access it opens the channel: the secrets of the demo stand
 * behind the #, which no browser sends.
 */
export function consoleAddress(baseUrl: string, access: DemoAccess | undefined): string {
  if (access === undefined) return `${baseUrl}/console/`
  const { channelId, password, token = '' } = access
  const parts = [channelId, password, token].map(encodeURIComponent).join('/')
  return `${baseUrl}/console/#/open/${parts.replace(/\/$/, '')}`
}

const OPENERS: Readonly<Record<string, readonly [program: string, ...options: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens an address in the person's browser; calls back when this computer has no way to. */
export function openBrowser(
  address: string,
  failed: () => void,
  platform = process.platform,
): void {
  const [program, ...options] = OPENERS[platform] ?? ['xdg-open']
  const opener = spawn(program, [...options, address], { detached: true, stdio: 'ignore' })
  opener.once('error', failed)
  opener.unref()
}
