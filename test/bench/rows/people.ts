// People: what quiet hours of every subscriber add to the pushes of an update, and how long it takes
// to say who got one. The store alone does both, in a process without anything else.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { Push } from '#domain/push'
import { openStore } from '#src/store/store'
import type { Store } from '#src/store/store'
import { spread } from '#test/bench/load/statistics'
import { FakeMeter } from '#test/support/fake-telemetry'
import { makeTables } from '#test/support/made-tables'
import { RULES, Worker, addPushDevice, delivered, deviceId } from '#test/support/push-jobs'
import { realRuntime } from '#test/support/real-runtime'
import { ChannelWriter } from '#test/support/store-writer'
import { message, opId } from '#test/support/submissions'
import type { Figure, Row } from './row.ts'

const DEVICES = 32
/** Each turn is one claim of as many pushes as dispatch claims at once, and a few more. */
const UPDATES_OF_TURN = 16
const WARMING = 60
/** Turns of each store in a second, in about which they take. */
const TURNS_PER_SECOND = 60
const CLAIMED = UPDATES_OF_TURN * DEVICES
const READS_PER_SECOND = 200

const GOALS = {
  quiet: { kind: 'at-most', must: 5, aim: 3 },
  receipts: { kind: 'at-most', must: 5, aim: 1 },
} as const

const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Tokyo', 'UTC']

export const PEOPLE_ROW: Row = {
  name: 'people',
  async measure(session) {
    const { say, secondsPerStep } = session.options
    const runs: Measured[] = []
    for await (const directory of session.directories('people')) {
      await mkdir(directory, { recursive: true })
      const measured = await measure(directory, secondsPerStep)
      runs.push(measured)
      const { plainUs, moreUs, receiptsMs } = measured
      const claimed = `${moreUs.toFixed(1)} µs an update beside ${plainUs.toFixed(0)}`
      say(`  people: ${claimed}, receipts ${receiptsMs.toFixed(2)} ms`)
    }
    const details = { devices: DEVICES, updatesOfTurn: UPDATES_OF_TURN, runs }
    const figure = (
      part: string,
      unit: string,
      goal: Figure['goal'],
      of: (one: Measured) => number,
    ) => ({ row: `people.${part}`, unit, value: spread(runs.map(of)), goal, details })
    return [
      figure('quiet', 'µs of CPU more an update', GOALS.quiet, ({ moreUs }) => moreUs),
      figure('receipts', 'ms of CPU', GOALS.receipts, ({ receiptsMs }) => receiptsMs),
    ]
  },
}

interface Measured {
  /** CPU of claiming the pushes of an update, and what quiet hours add to it. */
  readonly plainUs: number
  readonly moreUs: number
  /** CPU of saying who got a Message. */
  readonly receiptsMs: number
}

async function measure(directory: string, seconds: number): Promise<Measured> {
  const plain = await Side.open(directory, 'plain')
  const quiet = await Side.open(directory, 'quiet')
  try {
    await quiet.wantQuiet()
    for (let turn = 0; turn < WARMING; turn += 1) await turnOfEach(plain, quiet, turn)
    const turns: { readonly plainUs: number; readonly moreUs: number }[] = []
    for (let turn = 0; turn < seconds * TURNS_PER_SECOND; turn += 1) {
      turns.push(await turnOfEach(plain, quiet, turn))
    }
    const medianOf = (of: (one: (typeof turns)[number]) => number): number =>
      spread(turns.map(of)).median / UPDATES_OF_TURN
    return {
      plainUs: medianOf(({ plainUs }) => plainUs),
      moreUs: medianOf(({ moreUs }) => moreUs),
      receiptsMs: await quiet.receiptsMs(Math.ceil(seconds * READS_PER_SECOND)),
    }
  } finally {
    for (const { store } of [plain, quiet]) await store.close()
  }
}

/** Each comes first in every other turn: who does finds colder caches. */
async function turnOfEach(plain: Side, quiet: Side, turn: number) {
  const before = turn % 2 === 0 ? await quiet.turn() : undefined
  const plainUs = await plain.turn()
  const quietUs = before ?? (await quiet.turn())
  return { plainUs, moreUs: quietUs - plainUs }
}

/** A store with a channel of 32 subscribers that a provider reaches. */
class Side {
  readonly store: Store
  readonly writer: ChannelWriter
  readonly #worker: Worker
  #turns = 0
  #last = ''

  private constructor(store: Store, writer: ChannelWriter) {
    this.store = store
    this.writer = writer
    this.#worker = new Worker(store)
  }

  static async open(directory: string, name: string): Promise<Side> {
    const path = join(directory, `${name}.db`)
    await makeTables(path)
    const meter = new FakeMeter()
    const store = await openStore({
      runtime: realRuntime,
      url: `sqlite:${path}`,
      meter,
      pushes: RULES,
    })
    const writer = await ChannelWriter.open(store, 1)
    for (let number = 1; number <= DEVICES; number += 1) {
      await addPushDevice(store, writer.channelId, number)
    }
    return new Side(store, writer)
  }

  /** It is quiet all day for every device, each of four in another time zone. */
  async wantQuiet(): Promise<void> {
    const { channelId } = this.writer
    for (let number = 1; number <= DEVICES; number += 1) {
      const time_zone = ZONES[number % ZONES.length] ?? 'UTC'
      const quiet = [{ from: '00:00', to: '00:00', time_zone, unless: 'critical' as const }]
      await this.store.subscriptions.setPreferences(deviceId(number), channelId, { quiet })
    }
  }

  /** Writes updates, and claims their pushes; gives the microseconds of CPU of the claim alone. */
  async turn(): Promise<number> {
    const nowMs = realRuntime.nowMs()
    this.#turns += 1
    for (let update = 0; update < UPDATES_OF_TURN; update += 1) {
      const sent = message({ acceptedAt: nowMs, opId: opId(`${this.#turns}-${update}`) })
      this.#last = sent.entityId
      this.writer.take(sent)
    }
    await this.writer.commit()
    const before = process.cpuUsage()
    const pushes = await this.#worker.claim(nowMs, 'apns', CLAIMED + 1)
    const { user, system } = process.cpuUsage(before)
    if (pushes.length !== CLAIMED) throw new Error(`${pushes.length} of ${CLAIMED} pushes`)
    await this.#settle(pushes, nowMs)
    return user + system
  }

  #settle(pushes: readonly Push[], nowMs: number): Promise<unknown> {
    return this.#worker.settle(nowMs, ...pushes.map((push) => delivered(push)))
  }

  /** Milliseconds of CPU of one of so many questions who got the newest Message. */
  async receiptsMs(count: number): Promise<number> {
    const { channelId } = this.writer
    const query = { channelId, entityId: this.#last, providers: RULES.providers }
    const before = process.cpuUsage()
    for (let read = 0; read < count; read += 1) {
      const found = await this.store.read.receipts(query)
      if (found?.subscribers.length !== DEVICES) throw new Error('not every subscriber')
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000 / count
  }
}
