// A store that keeps the text of its statements, and everything that one can ask of a store.

import type { ExecutionContext } from 'ava'
import { DataSource } from 'typeorm'
import type { Logger } from 'typeorm'

import { parseDeviceId } from '#domain/identity'
import type { PushRules } from '#domain/push'
import { dataSourceOptionsFor } from '#ormconfig'
import { Database } from '#src/store/jobs/database'
import { dialectOf } from '#src/store/dialects'
import { tablesFor } from '#src/store/entities/tables'
import { LogBatches } from '#src/store/turns/log-table'
import { Pushes } from '#src/store/pushes/pushes'
import { Merging } from '#src/store/tiers/merging'
import { Joining } from '#src/store/retention/joining'
import { Retention } from '#src/store/retention/retention'
import { frontendStoresOn } from '#src/store/store'
import { turnsOn } from '#src/store/turns/turns'
import { FakeMeter } from '#test/support/fake-telemetry'
import {
  RULES,
  Worker,
  addPushDevice,
  deferred,
  delivered,
  deviceId,
  failed,
} from '#test/support/push-jobs'
import { realRuntime } from '#test/support/real-runtime'
import { EVERYTHING } from '#test/support/retention-limits'
import { ChannelWriter, PASSWORD_HASH, changed } from '#test/support/store-writer'
import { stepsOf } from '#test/support/retired'
import { channel, event, message, opId, thing } from '#test/support/submissions'
import { appendTo } from '#test/support/append-to'

class Statements implements Logger {
  /** Each text with the parameters that it had last. */
  readonly texts = new Map<string, readonly unknown[]>()

  logQuery(query: string, parameters: readonly unknown[] = []): void {
    if (/^(SELECT|UPDATE|DELETE)/.test(query)) this.texts.set(query, parameters)
  }

  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}

export async function openWatched(t: ExecutionContext, url: string, rules: PushRules = RULES) {
  const options = dataSourceOptionsFor(url)
  const statements = new Statements()
  const source = await new DataSource({
    ...options,
    logging: true,
    logger: statements,
  }).initialize()
  await source.runMigrations()
  statements.texts.clear()
  const dialect = dialectOf(options.type)
  const tables = tablesFor(dialect.types)
  const meter = new FakeMeter()
  const database = new Database(source, dialect, meter, realRuntime)
  t.teardown(() => database.close())
  const merging = new Merging(database, tables, new FakeMeter())
  return {
    database,
    tables,
    statements,
    turns: turnsOn(database, tables, rules),
    pushes: new Pushes(database, tables, rules, meter),
    ...frontendStoresOn(database, tables, meter),
    retention: new Retention(database),
    joining: new Joining(database, tables, merging),
    merging,
    logTable: new LogBatches(database, tables, realRuntime.entropy),
  }
}

export type Watched = Awaited<ReturnType<typeof openWatched>>

const A = channel(1)
const DEVICE = parseDeviceId('d'.repeat(64))

export async function doEverything(store: Watched): Promise<void> {
  if (DEVICE === undefined) throw new Error('not a device id')
  const { turns, channels, devices, subscriptions, read, operations, retention, logTable } = store
  await turns.bindLog({
    identity: 'log',
    lanes: 1,
    bounds: () => Promise.resolve([{ first: 0, last: 0 }]),
  })
  const writer = await ChannelWriter.open(store, 1)
  await devices.create(DEVICE, 'ios', 1)
  await devices.setRoute(DEVICE, 'apns', 'token')
  await devices.find(DEVICE)
  await devices.retireToken('ios', 'token')
  await subscriptions.subscribe(DEVICE, A, 1)
  writer.take(message({ opId: 'sent' }), thing('delete', 'lamp'), event('close', 'fire'))
  await writer.take(message(), message(), thing('update', 'door')).commit()
  await store.joining.join(Number.MAX_SAFE_INTEGER)
  const kept = { '5m': 1, '1h': 1, '1d': 1 }
  await store.merging.merge(Number.MAX_SAFE_INTEGER, kept)
  for (const step of ['raw', '1h'] as const) {
    await store.series.series({ channelId: A, thingId: 'door', step, from: 0, to: 1 })
  }
  await operations.find(message().opId)
  const key = { channelId: A, id: 'lamp' }
  await turns.load({ channels: [A], things: [key], events: [key], operations: [opId('sent')] })
  await turns.lastEpoch()

  await channels.credentials(A)
  await channels.exists(A)
  await channels.info(A)
  await channels.rename(A, 'other')
  await doKeys(store)
  await channels.changePassword(A, changed(PASSWORD_HASH, 'other'))
  await subscriptions.positions(DEVICE)
  await subscriptions.position(DEVICE, A)
  await subscriptions.acknowledge([{ deviceId: DEVICE, channelId: A, seq: 1 }])
  await subscriptions.acknowledgeEntries(DEVICE, [{ channelId: A, seq: 5 }])
  await read.thing(A, 'lamp')
  await read.event(A, 'fire')
  await read.things({ channelId: A, state: 'active', limit: 5 })
  await read.events({ channelId: A, state: 'open', thingId: 'lamp', limit: 5 })
  await read.things({ channelId: A, limit: 5 })
  await read.history({ channelId: A, entityId: 'lamp', sinceMs: 1, limit: 5 })
  await read.history({ channelId: A, models: ['event'], limit: 5 })
  const behind = { afterSeq: 0, sinceSeq: 0, limit: 5 }
  await read.catchUp([{ channelId: A, ...behind }])
  await read.catchUp([1, 2].map((number) => ({ channelId: channel(number), ...behind })))
  for (const by of ['thing_id', 'changed'] as const) {
    await read.scan({ channelId: A, by, isDescending: true, limit: 5 })
    await read.scan({ channelId: A, by, isDescending: false, prefix: 'd', limit: 5 })
  }
  await read.pull(DEVICE, 5)

  await doPushes(store)
  await operations.find(opId('sent'))
  const { entityId } = message()
  const claim = { channelId: A, thingId: '', contentHash: 'a', messageId: entityId, claimedAt: 1 }
  await operations.claim({ ...claim, opId: opId('claimed') }, 0)
  const [position = 0] = await appendTo(logTable, [{ lane: 0, count: 1, payload: '[]' }])
  await logTable.read(0, 0, 5)
  await logTable.bounds(0)
  await logTable.bytes()
  await logTable.purge(0, position, 2, 5)
  await subscriptions.keepOnly(DEVICE, [], 2)
  await subscriptions.subscribe(DEVICE, A, 1)
  await subscriptions.unsubscribe(DEVICE, A, 2)
  await devices.remove(DEVICE)
  await devices.create(DEVICE, 'ios', 1)
  writer.deadLetters.push({ lane: 1, position: 1, index: 0, payload: '', error: '', at: 1 })
  await writer.take(message()).commit()
  await stepsOf(store, EVERYTHING, 100)
  await writer.take(message(), thing('update', 'door', { at: 5 })).commit()
  await subscriptions.subscribe(DEVICE, A, 1)
  await devices.seen([DEVICE], 9e15)
  const everything = { neverSubscribed: 9e15, devices: 9e15, channels: 9e15, nowMs: 1 }
  await retention.expire(everything, 100)
  await channels.delete(A, 1)
  await retention.expire(everything, 100)
  await stepsOf(store, EVERYTHING, 100)
}

async function doKeys({ channels, channelKeys }: Watched): Promise<void> {
  const [keyHash, keyId] = ['a'.repeat(64), 'a'.repeat(32)]
  const rights = { scopes: ['send'], thingPrefix: '', expiresAt: 1 } as const
  const made = {
    channelId: A,
    passwordHash: PASSWORD_HASH,
    keyHash,
    keyId,
    label: '',
    createdAt: 1,
  }
  await channelKeys.create({ ...made, ...rights })
  await channelKeys.find([keyHash])
  await channelKeys.list(A, 0, 5)
  await channelKeys.used([keyHash], 1)
  const same = { previousHash: PASSWORD_HASH, passwordHash: PASSWORD_HASH }
  await channels.changePassword(A, { ...same, kept: 'everything' })
  await channelKeys.revoke(A, keyId)
}

async function doPushes(store: Watched): Promise<void> {
  const writer = await ChannelWriter.open(store, 2)
  for (const number of [1, 2, 3]) await addPushDevice(store, writer.channelId, number)
  await store.devices.setRoute(deviceId(1), 'private', undefined)
  await store.devices.setRoute(deviceId(1), 'apns', 'token')
  writer.take(message(), thing('update', 'lamp'), event('create', 'fire'))
  await writer.commit()
  const worker = new Worker(store)
  const [first, ...others] = await worker.claim(2_000)
  if (first === undefined) throw new Error('there is no job')
  await worker.settle(2_000, failed(first, true), ...others.map((push) => deferred(push, 2_500)))
  await worker.settle(2_500, ...(await worker.claim(2_500)).map(delivered))
  await writer.take(thing('update', 'lamp', { at: 2 })).commit()
  await worker.claim(3_000)
  const ids = (await worker.claim(9e15)).map(({ id }) => id)
  await worker.pushes.renew(worker.name, ids, 9e15)
  await worker.pushes.release(worker.name, ids, 9e15)
  await worker.pushes.releaseAll(1)
  await worker.pushes.backlog('apns')
  await worker.pushes.tend(9e15)
}
