// One process with everything on, and what is sent to it.

import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'

import { connectAsync } from 'mqtt'

import { startPushServers } from '#src/dev/servers/push/push-servers'
import type { ApnsServer } from '#src/dev/servers/push/apns-server'
import { prepareRequests, stamp } from '#test/bench/load/payload'
import { Sender } from '#test/bench/load/sender'
import { keysOf } from '#test/bench/rig/channel-keys'
import { deviceKeysOf } from '#test/bench/rig/device-keys'
import { writeChannels, writeDevices } from '#test/bench/rig/keyed-rows'
import { freePort } from '#test/support/free-port'
import { post, startGateway, temporaryFolder } from '#test/support/gateway'
import type { Gateway, Owner } from '#test/support/gateway'
import { ThreadProbe } from '#test/support/thread-probe'
import { tokenOf } from '#test/support/push-gateway'
import type { JourneyName } from './bounds.ts'
import { Arrivals, Device } from './device.ts'

const THREADS = ['main', 'engine', 'log', 'dispatch'] as const

/**
 * Flags of V8 with which code allocates the same whenever it runs: what is optimised allocates
 * less, from a moment on that depends on the machine. Nothing is collected but at a mark.
 */
const FLAGS = [
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
  '--no-lazy-feedback-allocation',
  '--no-memory-reducer',
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
]

/** Of a journey. There are as many channels with a Thing each, which one device follows. */
export const SUBMISSIONS = 60
const DEVICE = { name: 'budget', count: 1, channels: SUBMISSIONS, among: SUBMISSIONS }
const TEXT = 'x'.repeat(80)
const POLL_MS = 1
/** What one thread has done may be for another one to go on with. */
const RESTS = 3

export interface Site {
  readonly probe: ThreadProbe
  /** Each sends SUBMISSIONS, and resolves once they are where they should come. */
  readonly journeys: Readonly<Record<JourneyName, () => Promise<void>>>
  /** Makes ready for a journey. */
  begin(): Promise<void>
  /** Resolves once threads of the gateway, all by default, have nothing to do. */
  rest(threads?: readonly string[]): Promise<void>
  /** Acknowledges what the device has. */
  acknowledge(): Promise<void>
}

/** Starts everything. From then on the clock of the gateway stands still. */
export async function openSite(t: Owner): Promise<Site> {
  const directory = await temporaryFolder(t)
  const probe = await ThreadProbe.listen(directory, THREADS)
  t.teardown(() => probe.close())
  const servers = await startPushServers(directory, { nowMs: Date.now })
  t.teardown(() => servers.close())
  const mqttPort = await freePort(t)
  const listening = { SERVICE_MQTT_ADDR: `127.0.0.1:${mqttPort}` }
  const gateway = await startGateway(t, {
    directory,
    flags: FLAGS,
    env: { ...servers.env, ...probe.env, ...listening, SERVICE_THING_PUSH_INTERVAL: '0s' },
  })
  const { pushed, followed } = await keysIn(gateway)
  await addAppleDevice(gateway, pushed)
  const address = { port: Number(new URL(gateway.baseUrl).port), token: gateway.token }
  const device = await Device.open(t, address, deviceKeysOf(DEVICE.name, 1)[0] ?? '')
  const senders = Array.from({ length: SUBMISSIONS }, () => new Sender(address))
  t.teardown(() => senders.forEach((sender) => sender.close()))
  const publish = await publisherOf(t, mqttPort, followed[0] ?? '')
  const heldAtMs = Date.now()
  await probe.ask({ kind: 'hold', atMs: heldAtMs })
  const rest: Site['rest'] = async (threads) => {
    for (let time = 0; time < RESTS; time += 1) await probe.ask({ kind: 'rest' }, threads)
  }
  const parts = { probe, rest, pushed, followed, device, senders, publish, heldAtMs }
  return {
    probe,
    begin: async () => void (await Promise.all(senders.map((sender) => sender.connect()))),
    rest,
    acknowledge: () => device.acknowledge(),
    journeys: journeysOf({
      ...parts,
      token: gateway.token,
      pushes: pushesOf(t, gateway, servers.apns),
    }),
  }
}

interface Parts extends Pick<Site, 'probe' | 'rest'>, Keys {
  readonly token: string
  readonly heldAtMs: number
  readonly device: Device
  readonly senders: readonly Sender[]
  readonly publish: (observedAtMs: number) => Promise<void>
  readonly pushes: Pushes
}

function journeysOf(parts: Parts): Site['journeys'] {
  const { probe, rest, token, pushed, followed, device, senders, publish, pushes } = parts
  let { heldAtMs: observedAtMs } = parts
  const [first, ...others] = senders
  const [key] = followed
  if (first === undefined || key === undefined) throw new Error('there is nobody to send')
  const updatesOf = (keys: readonly string[]) => {
    const requests = prepareRequests({ token, keys, thingCount: keys.length })
    return async (by = first): Promise<void> => {
      observedAtMs += 1 // The clock stands still, and each reading is newer than the one before.
      const request = requests[observedAtMs % requests.length]
      if (request !== undefined) await by.send(stamp(request, observedAtMs, observedAtMs))
    }
  }
  const [update, updatePushed] = [updatesOf(followed), updatesOf([pushed])]
  const message = JSON.stringify({ password: key, title: 'a title', body: TEXT })
  const toDevice = (send: () => Promise<void>) =>
    eachOf(async () => {
      const wanted = device.entries.count + 1
      await send()
      await device.entries.until(wanted)
    })
  return {
    update: toDevice(() => update()),
    turn: async () => {
      const wanted = device.entries.count + SUBMISSIONS
      await probe.ask({ kind: 'stop', thread: 'log' })
      const sent = [update()]
      await rest(['main'])
      for (const other of others) sent.push(update(other)) // They gather behind the first.
      await rest(['main'])
      await probe.ask({ kind: 'continue' })
      await Promise.all(sent)
      await device.entries.until(wanted)
    },
    message: toDevice(() => first.post('/message', 'application/json', message)),
    publication: toDevice(() => first.post(`/compat-topic/${key}`, 'text/plain', TEXT)),
    mqtt: toDevice(() => {
      observedAtMs += 1
      return publish(observedAtMs)
    }),
    push: eachOf(pushes.after(() => updatePushed())),
  }
}

const eachOf = (send: () => Promise<void>) => async (): Promise<void> => {
  for (let sent = 0; sent < SUBMISSIONS; sent += 1) await send()
}

/** Keys of channels: one whose device Apple reaches, and those that a device follows. */
interface Keys {
  readonly pushed: string
  readonly followed: readonly string[]
}

/** Makes the channels, and the device that follows. */
async function keysIn({ database }: Gateway): Promise<Keys> {
  const rows = new DatabaseSync(database)
  const writer = {
    run: async (sql: string, parameters: readonly (string | number)[]) =>
      Number(rows.prepare(sql).run(...parameters).lastInsertRowid),
  }
  await writeChannels(writer, SUBMISSIONS + 1)
  await writeDevices(writer, DEVICE)
  rows.close()
  const keys = keysOf(SUBMISSIONS + 1)
  return { pushed: keys.at(-1) ?? '', followed: keys.slice(0, -1) }
}

/** Registers a device that Apple reaches, and subscribes it by the key of a channel. */
async function addAppleDevice(gateway: Gateway, password: string): Promise<void> {
  const registered = await post(gateway, '/device/register', { platform: 'ios' })
  const device_key = String(registered.body.data['device_key'])
  const provider_token = tokenOf('apns', 1)
  await post(gateway, '/channel/device', { device_key, channel_type: 'apns', provider_token })
  const { status, body } = await post(gateway, '/channel/subscribe', { device_key, password })
  if (status !== 200) throw new Error(`not subscribed: ${JSON.stringify(body)}`)
}

/** Publishes readings of a Thing at QoS 1. */
async function publisherOf(
  t: Owner,
  port: number,
  username: string,
): Promise<(observedAtMs: number) => Promise<void>> {
  const options = { clientId: 'sensor', username, reconnectPeriod: 0 }
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`, options)
  t.teardown(() => client.endAsync(true))
  return async (observed_at) => {
    const attrs = { temperature: observed_at, note: TEXT }
    const reading = JSON.stringify({ observed_at, title: 'a title', attrs })
    await client.publishAsync('things/sensor', reading, { qos: 1 })
  }
}

interface Pushes {
  /** Sends, and waits until Apple has the push and its end is written. */
  readonly after: (send: () => Promise<void>) => () => Promise<void>
}

function pushesOf(t: Owner, { database }: Gateway, apns: ApnsServer): Pushes {
  const taken = new Arrivals()
  apns.taken = () => taken.came()
  // To ask the gateway would be a part of the way.
  const rows = new DatabaseSync(database, { readOnly: true })
  t.teardown(() => rows.close())
  const open = rows.prepare(`SELECT count(*) AS jobs FROM push_jobs WHERE state <> 'pushed'`)
  return {
    after: (send) => async () => {
      const wanted = taken.count + 1
      await send()
      await taken.until(wanted)
      while (open.get()?.['jobs'] !== 0) await delay(POLL_MS)
    },
  }
}
