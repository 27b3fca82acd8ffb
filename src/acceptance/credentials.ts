// Checks that a password opens a channel: scrypt once, then a lookup under a keyed hash.
//
// Invariants:
//   credentials/1. Each (channel, password) is computed once at a time: other requests for it wait
//                  for that answer.
//   credentials/2. A computation that was under way when a channel's credentials changed runs
//                  again; its result is never kept.
//   credentials/3. An unknown channel costs the same work as a wrong password and gives the same
//                  answer.
//   credentials/4. Kept answers, refusals and computations under way are bounded; refusals never
//                  push out verified passwords.
//   credentials/5. A kept answer is compared with the store after RECHECK_AFTER_MS, and at once
//                  when notices may be lost, so that a lost notice of a changed password costs a
//                  minute at most.
//   credentials/6. While the store does not answer, earlier verified passwords stay good, until the
//                  store tells otherwise. An answer that a notice removed is gone.
//   credentials/7. A hash of lesser parameters than new ones have is made anew after a proof of its
//                  password, one at a time and while no other password waits for its computation.
//                  Keys and bindings stay.

import { hash } from 'node:crypto'
import { BoundedItems } from '#domain/bounds/bounded-items'
import type { ChannelCredentials } from '#domain/channel'
import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer, Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { ChannelStore } from '#domain/store-ports'
import { tried } from './attempt.ts'
import type { Attempt } from './attempt.ts'
import type { DerivedKeys, PasswordWork } from './password-work.ts'

type Verdict = Answer<ChannelCredentials>

export interface Credentials {
  /**
   * The channel when the password opens it; channel_not_found, server_busy or rate_limited
   * otherwise. No promise when it is known, as it is for nearly every submission.
   */
  check(
    channelId: ChannelId,
    password: string,
    request?: CheckedRequest,
  ): Verdict | Promise<Verdict>
  /** Drops the kept answers about a channel at once, and those of checks under way. */
  forget(channelId: ChannelId): void
  /** Compares kept answers with the store before their next use. (credentials/5) */
  recheckAll(): void
  /** The number of verified and refused credentials in memory. */
  size(): number
  /** An estimate of the bytes that they take. */
  bytes(): number
}

/** The request that brings a password. */
export interface CheckedRequest {
  /** Counts the password; absent when nothing counts it. */
  readonly attempt?: Attempt | undefined
  /** The keys that the request has computed already. */
  readonly derived?: DerivedKeys
}

export interface CredentialsPorts {
  readonly channels: Pick<ChannelStore, 'credentials' | 'changePassword'>
  readonly work: PasswordWork
  /** Milliseconds that only grow: a clock set back must not keep an answer. (credentials/5) */
  readonly monotonicMs: () => number
  readonly timers: Timers
  readonly entropy: Runtime['entropy']
}

/** Some 100,000 verified passwords. With more in use every request could cost a scrypt. */
export const VERIFIED_BYTES_MAX = 64 * 2 ** 20
/** What one takes in memory, rounded up, beside the name of its channel. */
const PASSWORD_BYTES = 512
/** A thousand refused ones. */
const REFUSED_BYTES_MAX = 320_000
const REFUSED_BYTES = 320
const UNDER_WAY_MAX = 1_000
const RECHECK_AFTER_MS = 60_000
/** The longest comparison, and the pause after one that had no answer. (credentials/6) */
const RECHECK_WAIT_MS = 1_000
const RECHECK_PAUSE_MS = 5_000
const REFUSED_FOR_MS = 10_000
const ATTEMPTS_MAX = 3

const NOT_FOUND = fault('channel_not_found')
const BUSY = fault('server_busy', { retryAfterMs: 1_000 })

interface Verified {
  readonly credentials: ChannelCredentials
  /** The time of the next comparison with the store. */
  compareAt: number
}

interface Refused {
  readonly channelId: ChannelId
  readonly until: number
}

interface Check {
  readonly key: string
  readonly channelId: ChannelId
  readonly password: string
  readonly derived: DerivedKeys
  isStale: boolean
  /** True when the store did not say whether the kept answer is still right. (credentials/6) */
  isUnanswered: boolean
  answer: Promise<Verdict>
}

type PasswordCheck = Pick<Check, 'key' | 'channelId' | 'password' | 'derived'>

export function createCredentials(ports: CredentialsPorts): Credentials {
  return new CachedCredentials(ports)
}

class CachedCredentials implements Credentials {
  readonly #ports: CredentialsPorts
  /** The key of the MACs, new in every process. */
  readonly #key: string
  readonly #verified = new BoundedItems<Verified>()
  readonly #refused = new BoundedItems<Refused>()
  readonly #underWay = new Map<string, Check>()
  #isRenewing = false

  constructor(ports: CredentialsPorts) {
    this.#ports = ports
    this.#key = ports.entropy(32).toString('base64')
  }

  check(
    channelId: ChannelId,
    password: string,
    { attempt, derived = new Map() }: CheckedRequest = {},
  ): Verdict | Promise<Verdict> {
    const key = this.#keyOf(channelId, password)
    const now = this.#ports.monotonicMs()
    const verified = this.#verified.get(key)
    if (verified !== undefined && now < verified.compareAt) {
      this.#verified.use(key)
      return attempt?.known() ?? verified.credentials
    }
    const refused = this.#refused.get(key)
    if (refused !== undefined && now < refused.until) {
      return attempt?.refused('channel password') ?? NOT_FOUND
    }
    const trial = attempt?.begin(verified !== undefined) // attempt/1
    if (isFault(trial)) return trial
    const answer = this.#answerTo({ key, channelId, password, derived })
    return trial === undefined ? answer : tried(trial, answer)
  }

  #answerTo(asked: PasswordCheck): Promise<Verdict> {
    const check = this.#underWay.get(asked.key) // credentials/1
    if (check !== undefined) return check.answer
    if (this.#underWay.size >= UNDER_WAY_MAX) return Promise.resolve(BUSY) // credentials/4
    return this.#begin(asked)
  }

  /**
   * The name under which an answer is kept: a keyed MAC, so that no password stays in memory. One
   * round is enough because no MAC ever leaves the process: a second round only protects against
   * extending the text of a known MAC. Channel ids all have the same length, so no two pairs give
   * the same text.
   */
  #keyOf(channelId: ChannelId, password: string): string {
    return hash('sha256', this.#key + channelId + password, 'base64')
  }

  #begin(asked: PasswordCheck): Promise<Verdict> {
    const check: Check = {
      ...asked,
      isStale: false,
      isUnanswered: false,
      answer: Promise.resolve(BUSY),
    }
    this.#underWay.set(check.key, check)
    check.answer = this.#settle(check)
    return check.answer
  }

  async #settle(check: Check): Promise<Verdict> {
    try {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
        check.isStale = false
        check.isUnanswered = false
        const answer = await this.#compute(check)
        if (check.isStale) continue // credentials/2
        this.#keep(check, answer)
        return answer
      }
      return BUSY
    } finally {
      this.#underWay.delete(check.key)
    }
  }

  async #compute(check: Check): Promise<Verdict> {
    const { key, channelId, password, derived } = check
    const { channels, work } = this.#ports
    const verified = this.#verified.get(key)
    const stored =
      verified === undefined
        ? await channels.credentials(channelId)
        : await this.#compare(check, verified.credentials)
    if (stored !== undefined && verified?.credentials.passwordHash === stored.passwordHash) {
      return stored
    }
    // credentials/3
    const matches = await work.matches(password, stored?.passwordHash, derived)
    if (isFault(matches)) return matches
    return matches && stored !== undefined ? stored : NOT_FOUND
  }

  /**
   * The channel from the store, or the kept one while the store does not answer. (credentials/6)
   */
  async #compare(check: Check, kept: ChannelCredentials): Promise<ChannelCredentials | undefined> {
    const { channels, timers } = this.#ports
    const silence = Promise.withResolvers<'silence'>()
    const cancel = timers.after(RECHECK_WAIT_MS, () => silence.resolve('silence'))
    const asked = channels.credentials(kept.channelId).catch(() => 'silence' as const)
    const answer = await Promise.race([asked, silence.promise])
    cancel()
    if (answer !== 'silence') return answer
    check.isUnanswered = true
    return kept
  }

  #keep(check: Check, answer: Verdict): void {
    const { key, channelId, isUnanswered } = check
    const now = this.#ports.monotonicMs()
    this.#verified.delete(key)
    if (!isFault(answer)) {
      const compareAt = now + (isUnanswered ? RECHECK_PAUSE_MS : RECHECK_AFTER_MS)
      this.#verify(key, { credentials: answer, compareAt })
      this.#verified.keepWithin(VERIFIED_BYTES_MAX) // credentials/4
      this.#renew(check, answer.passwordHash)
    } else if (answer.code === 'channel_not_found') {
      this.#refused.keep(key, { channelId, until: now + REFUSED_FOR_MS }, REFUSED_BYTES)
      this.#refused.keepWithin(REFUSED_BYTES_MAX) // credentials/4
    }
  }

  /** credentials/7: a failure, or a password that waits, leaves it to the next proof. */
  #renew({ key, channelId, password }: Check, previousHash: string): void {
    const { work, channels } = this.#ports
    if (this.#isRenewing || work.waiting() > 0 || !work.isWeak(previousHash)) return
    const renewed = async (): Promise<void> => {
      const passwordHash = await work.hash(password)
      if (isFault(passwordHash)) return
      const change = { previousHash, passwordHash, kept: 'everything' } as const
      if (!(await channels.changePassword(channelId, change))) return
      const verified = this.#verified.get(key)
      if (verified?.credentials.passwordHash !== previousHash) return
      this.#verify(key, {
        ...verified,
        credentials: { ...verified.credentials, passwordHash },
      })
    }
    this.#isRenewing = true
    const end = (): void => {
      this.#isRenewing = false
    }
    renewed().then(end, end)
  }

  #verify(key: string, verified: Verified): void {
    const { channelName } = verified.credentials
    this.#verified.keep(key, verified, PASSWORD_BYTES + 2 * channelName.length)
  }

  forget(channelId: ChannelId): void {
    for (const [key, { credentials }] of this.#verified.entries()) {
      if (credentials.channelId === channelId) this.#verified.delete(key)
    }
    for (const [key, refused] of this.#refused.entries()) {
      if (refused.channelId === channelId) this.#refused.delete(key)
    }
    for (const check of this.#underWay.values()) {
      if (check.channelId === channelId) check.isStale = true // credentials/2
    }
  }

  recheckAll(): void {
    for (const [, verified] of this.#verified.entries()) verified.compareAt = 0 // credentials/5
    this.#refused.clear()
    for (const check of this.#underWay.values()) check.isStale = true // credentials/2
  }

  size(): number {
    return this.#verified.size + this.#refused.size
  }

  bytes(): number {
    return this.#verified.bytes + this.#refused.bytes
  }
}
