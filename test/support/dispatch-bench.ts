// A dispatcher over a real store, with a provider that answers as told and time turned by hand.

import type { ExecutionContext } from 'ava'

import type { Provider, PushStore } from '#domain/push'
import type { ProviderName } from '#domain/push/providers'
import { Dispatcher } from '#src/dispatch/dispatcher'
import type { Store } from '#src/store/store'
import { FakeProvider } from '#test/support/fake-provider'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { RULES, addPushDevice } from '#test/support/push-jobs'
import { databasePath, openStoreAt } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { turn } from '#test/support/until'

export const NOW = 2_000
const STEPS_MAX = 10_000

/** A dispatcher that can end like a killed process. */
interface Started {
  readonly nudge: () => void
  readonly credentialsChanged: () => void
  readonly readiness: Dispatcher['readiness']
  readonly stop: () => Promise<void>
  readonly kill: () => void
}

export class DispatchBench {
  readonly store: Store
  /** The database file. */
  readonly path: string
  readonly writer: ChannelWriter
  /** The number of pushes that each claim gave. */
  readonly claims: number[] = []
  readonly time = new FakeTime(NOW)
  readonly provider = new FakeProvider()
  readonly meter = new FakeMeter()
  readonly logger = new FakeLogger()
  /** The number of times that settling fails. */
  failSettling = 0
  /** Claims are not renewed. */
  isRenewalLost = false

  private constructor(store: Store, path: string, writer: ChannelWriter) {
    this.store = store
    this.path = path
    this.writer = writer
  }

  /** Opens one with a channel and that many subscribers for each provider. */
  static async open(t: ExecutionContext, devices = 1, android = 0): Promise<DispatchBench> {
    const path = await databasePath(t)
    const store = await openStoreAt(t, path, RULES)
    const writer = await ChannelWriter.open(store, 1)
    for (let number = 1; number <= devices + android; number += 1) {
      const provider = number <= devices ? 'apns' : 'fcm'
      await addPushDevice(store, writer.channelId, number, provider)
    }
    return new DispatchBench(store, path, writer)
  }

  start(worker = 'worker', provider: Provider = this.provider): Started {
    let isKilled = false
    const after = (delayMs: number, callback: () => void): (() => void) =>
      this.time.after(delayMs, () => {
        if (!isKilled) callback()
      })
    const dispatcher = new Dispatcher(
      {
        store: this.#storeOf(() => isKilled),
        provider,
        meter: this.meter,
        logger: this.logger,
        timers: { after },
        nowMs: this.time.nowMs,
        monotonicMs: this.time.monotonicMs,
        random: () => 0,
      },
      { worker, concurrency: { initial: 32, max: 64 } },
    )
    dispatcher.start()
    return {
      nudge: () => dispatcher.nudge(),
      credentialsChanged: () => dispatcher.credentialsChanged(),
      readiness: () => dispatcher.readiness(),
      stop: () => dispatcher.stop(),
      kill: () => {
        isKilled = true
      },
    }
  }

  /** Turns time in small steps until a condition holds. */
  async advanceUntil(what: string, isSo: () => boolean, stepMs = 50): Promise<void> {
    for (let steps = 0; steps < STEPS_MAX; steps += 1) {
      for (let turns = 0; turns < 5; turns += 1) await turn()
      if (isSo()) return
      this.time.advance(stepMs)
    }
    throw new Error(`waited in vain until ${what}`)
  }

  /** Jobs of a provider that have ended in any way. */
  ended(provider: ProviderName): number {
    const outcomes = ['delivered', 'failed', 'expired', 'superseded', 'unreadable']
    return outcomes.reduce(
      (sum, outcome) => sum + this.meter.total(`pushes_total{${provider},${outcome}}`),
      0,
    )
  }

  counted(outcome: string): number {
    return this.meter.total(`pushes_total{apns,${outcome}}`)
  }

  #storeOf(isGone: () => boolean): PushStore {
    const { pushes } = this.store
    const never = new Promise<never>(() => {})
    return {
      claim: async (claim) => {
        if (isGone()) return never
        const claimed = await pushes.claim(claim)
        this.claims.push(claimed.pushes.length)
        return claimed
      },
      settle: (endings, by) => {
        if (this.failSettling > 0) {
          this.failSettling -= 1
          return Promise.reject(new Error('the store is away'))
        }
        return isGone() ? never : pushes.settle(endings, by)
      },
      renew: (worker, ids, untilMs) => {
        if (this.isRenewalLost) return Promise.reject(new Error('the store is away'))
        return isGone() ? never : pushes.renew(worker, ids, untilMs)
      },
      release: (worker, ids, nowMs) => pushes.release(worker, ids, nowMs),
      tend: (nowMs) => pushes.tend(nowMs),
      releaseAll: (nowMs) => pushes.releaseAll(nowMs),
      backlog: (provider) => pushes.backlog(provider),
    }
  }
}
