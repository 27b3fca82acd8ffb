// Checks that a password opens a channel: scrypt once, then a lookup under a keyed hash.
//
// Invariants:
//   credentials/1. An unknown channel costs the same work as a wrong password and gives the same
//                  answer.
//   credentials/2. A check waits RECHECK_WAIT_MS at most for a comparison of what is kept.
//   credentials/3. A hash of lesser parameters than new ones have is made anew after a proof of its
//                  password, one at a time and while no other password waits for its computation.
//                  Keys and bindings stay.

import { hash } from 'node:crypto'
import type { ChannelCredentials } from '#domain/channel'
import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer, Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { ChannelStore } from '#domain/store-ports'
import { tried } from './attempt.ts'
import type { Attempt } from './attempt.ts'
import { KeptAnswers } from './kept-answers.ts'
import type { Found, Subject } from './kept-answers.ts'
import type { DerivedKeys, PasswordWork } from './password-work.ts'

type Verdict = Answer<ChannelCredentials>

/** The request that brings a password. */
interface CheckedRequest {
  /** Counts the password; absent when nothing counts it. */
  readonly attempt?: Attempt | undefined
  /** The keys that the request has computed already. */
  readonly derived?: DerivedKeys
}

interface CredentialsPorts {
  readonly channels: Pick<ChannelStore, 'credentials' | 'changePassword'>
  readonly work: PasswordWork
  /** Milliseconds that only grow. */
  readonly monotonicMs: () => number
  readonly timers: Timers
  readonly entropy: Runtime['entropy']
}

/** Some 100,000 verified passwords. With more in use every request could cost a scrypt. */
export const VERIFIED_BYTES_MAX = 64 * 2 ** 20
/** What one takes in memory, rounded up, beside the name of its channel. */
const PASSWORD_BYTES = 512
const UNDER_WAY_MAX = 1_000
/** The longest comparison, and the pause after one that had no answer. */
const RECHECK_WAIT_MS = 1_000
const RECHECK_PAUSE_MS = 5_000

const NOT_FOUND = fault('channel_not_found')

interface Question extends Subject {
  /** A secret. */
  readonly password: string
  readonly derived: DerivedKeys
}

/** Knows which passwords open their channels. */
export class Credentials {
  readonly #ports: CredentialsPorts
  /** The key of the MACs, new in every process. */
  readonly #key: string
  readonly #answers: KeptAnswers<ChannelCredentials, Question>
  #isRenewing = false

  constructor(ports: CredentialsPorts) {
    this.#ports = ports
    this.#key = ports.entropy(32).toString('base64')
    this.#answers = new KeptAnswers({
      read: (_, question, kept) => this.#prove(question, kept),
      isKept: (key, question, { passwordHash }) => this.#renew(key, question, passwordHash),
      bytesOf: ({ channelName }) => PASSWORD_BYTES + 2 * channelName.length,
      bytesMax: VERIFIED_BYTES_MAX,
      askedMax: UNDER_WAY_MAX,
      pauseMs: RECHECK_PAUSE_MS,
      monotonicMs: ports.monotonicMs,
    })
  }

  /**
   * The channel when the password opens it; channel_not_found, server_busy or rate_limited
   * otherwise. No promise when it is known, as it is for nearly every submission.
   */
  check(
    channelId: ChannelId,
    password: string,
    { attempt, derived = new Map() }: CheckedRequest = {},
  ): Verdict | Promise<Verdict> {
    const key = this.#keyOf(channelId, password)
    const answers = this.#answers
    const verified = answers.recent(key)
    if (verified !== undefined) return attempt?.known() ?? verified
    if (answers.isAbsent(key)) return attempt?.refused('channel password') ?? NOT_FOUND
    const guess = attempt?.begin(answers.peek(key) !== undefined) // attempt/1
    if (isFault(guess)) return guess
    const answer = verdictOn(answers.ask(key, { channelId, password, derived }))
    return guess === undefined ? answer : tried(guess, answer)
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

  async #prove(
    { channelId, password, derived }: Question,
    kept: ChannelCredentials | undefined,
  ): Promise<Found<ChannelCredentials>> {
    const { channels, work } = this.#ports
    const asked = channels.credentials(channelId)
    const stored = await (kept === undefined ? asked : this.#soon(asked))
    if (kept !== undefined && kept.passwordHash === stored?.passwordHash) return stored
    const matches = await work.matches(password, stored?.passwordHash, derived) // credentials/1
    if (isFault(matches)) return matches
    return matches ? stored : undefined
  }

  /** The same answer; rejects when it does not come in time. (credentials/2) */
  #soon<Value>(asked: Promise<Value>): Promise<Value> {
    const { promise, reject } = Promise.withResolvers<never>()
    const silence = new Error('the store does not answer in time')
    const cancel = this.#ports.timers.after(RECHECK_WAIT_MS, () => reject(silence))
    return Promise.race([asked, promise]).finally(cancel)
  }

  /** credentials/3: a failure, or a password that waits, leaves it to the next proof. */
  #renew(key: string, { channelId, password }: Question, previousHash: string): void {
    const { work, channels } = this.#ports
    if (this.#isRenewing || work.waiting() > 0 || !work.isWeak(previousHash)) return
    const renewed = async (): Promise<void> => {
      const passwordHash = await work.hash(password)
      if (isFault(passwordHash)) return
      const change = { previousHash, passwordHash, kept: 'everything' } as const
      if (!(await channels.changePassword(channelId, change))) return
      const verified = this.#answers.peek(key)
      if (verified?.passwordHash !== previousHash) return
      this.#answers.replace(key, { ...verified, passwordHash })
    }
    this.#isRenewing = true
    const end = (): void => {
      this.#isRenewing = false
    }
    renewed().then(end, end)
  }

  /** Drops the kept answers about a channel at once, and those of checks under way. */
  forget(channelId: ChannelId): void {
    this.#answers.forget({ channelId })
  }

  /** Compares kept answers with the store before their next use. */
  recheckAll(): void {
    this.#answers.recheck()
  }

  /** The number of verified and refused credentials in memory. */
  size(): number {
    return this.#answers.size + this.#answers.absent
  }

  /** An estimate of the bytes that they take. */
  bytes(): number {
    return this.#answers.bytes
  }
}

async function verdictOn(
  asked: Found<ChannelCredentials> | Promise<Found<ChannelCredentials>>,
): Promise<Verdict> {
  return (await asked) ?? NOT_FOUND
}
