// The budget of requests that can bring a password: so many a minute for each address and in all,
// of which guesses take a part at most. (Specification: Rate budget on password surfaces;
// decisions.md 13)
//
//   enter ─▶ a place ─▶ known: the password is known to be right
//                    └▶ guess: it must be computed ─▶ right, dropped, or wrong
//
// A request enters with its first credential that is no good key. Its place counts for its address
// only, and takes a share of the total when it is known what that credential needs.
//
// Invariants:
//   password-budget/1. In a minute at most `perAddress` requests of an address and `total` requests
//                      of all addresses get a share.
//   password-budget/2. Guesses hold at most half of the total, those of one IPv6 /56 a tenth and
//                      those of one /48 a fifth. So at least half is there for known passwords,
//                      whatever strangers do.
//   password-budget/3. A place without a share takes nothing of the total: requests whose bodies
//                      do not come silence nobody but their own address.
//   password-budget/4. A guess has its share before the work begins, and gives it to the known ones
//                      when it was right. Further guesses of a request take a share each, which
//                      only wrong ones keep.
//   password-budget/5. At most HOSTS_MAX addresses are remembered for their places, and beyond
//                      these only those with a share. A request that ends in a later minute counts
//                      there.

import { hostOf, networksOf } from '#domain/host'
import type { NowMs } from '#domain/ports'
import type { BudgetLimits, BudgetRefusal } from './budget.ts'
import { Minutes } from './budget.ts'

/** Parts of the total that guesses may hold, of all addresses and of one /56 and one /48. */
const GUESSES_PART = 2
const NETWORK_PARTS = [10, 5] as const
export const HOSTS_MAX = 20_000

type Share = 'none' | 'known' | 'guess'

/** A password that is computed or compared, with its share of the budget. */
export interface Guess {
  /** Called once; 'dropped' when the password was not compared after all. */
  end(outcome: 'right' | 'wrong' | 'dropped'): void
}

export class PasswordBudget {
  readonly limits: BudgetLimits
  readonly #minutes: Minutes
  /** Requests of each host. */
  readonly #hosts = new Map<string, number>()
  /** Guesses of each IPv6 network. */
  readonly #networks = new Map<string, number>()
  #window = 0
  #known = 0
  #guesses = 0

  constructor(limits: BudgetLimits, nowMs: NowMs) {
    this.limits = limits
    this.#minutes = new Minutes(nowMs)
  }

  /** Lets a request in, whatever its password is, unless nothing is left for any. */
  enter(address: string): Place | BudgetRefusal {
    const host = hostOf(address)
    const refusal = this.#refusalOfAll(host)
    if (refusal !== undefined) return refusal
    const isCounted = this.#hosts.has(host) || this.#hosts.size < HOSTS_MAX // password-budget/5
    if (isCounted) this.#count(host, 1)
    return new Place(this, host, isCounted ? this.#window : 0)
  }

  /** Addresses that are remembered. (password-budget/5) */
  get hosts(): number {
    return this.#hosts.size
  }

  /** The number of the window. */
  get window(): number {
    const current = this.#minutes.current()
    if (current !== this.#window) {
      this.#window = current
      this.#known = 0
      this.#guesses = 0
      this.#hosts.clear()
      this.#networks.clear()
    }
    return current
  }

  /** Takes a share; `isCounted` when the host has this request in its count. */
  take(kind: 'known' | 'guess', host: string, isCounted: boolean): BudgetRefusal | undefined {
    const refusal =
      this.#refusalOfAll(host, isCounted) ?? (kind === 'guess' ? this.#refusalOf(host) : undefined)
    if (refusal !== undefined) return refusal
    if (!isCounted) this.#count(host, 1)
    if (kind === 'known') this.#known += 1
    else this.#countGuess(host, 1)
    return undefined
  }

  /** Moves the share of a guess to the known passwords. (password-budget/4) */
  prove(host: string): void {
    this.#countGuess(host, -1)
    this.#known += 1
  }

  /** Takes back the share of a guess, and its request from the count of its host. */
  giveBack(host: string): void {
    this.#countGuess(host, -1)
    this.#count(host, -1)
  }

  /** password-budget/1 */
  #refusalOfAll(host: string, isCounted = false): BudgetRefusal | undefined {
    const { window: _, limits } = this
    const count = this.#hosts.get(host) ?? 0
    if (!isCounted && count >= limits.perAddress) return this.#refusal(limits.perAddress)
    if (this.#known + this.#guesses >= limits.total) return this.#refusal(limits.total)
    return undefined
  }

  /** password-budget/2 */
  #refusalOf(host: string): BudgetRefusal | undefined {
    const { total } = this.limits
    const most = Math.ceil(total / GUESSES_PART)
    if (this.#guesses >= most) return this.#refusal(most)
    for (const [at, network] of networksOf(host).entries()) {
      const part = Math.ceil(total / (NETWORK_PARTS[at] ?? 1))
      if ((this.#networks.get(network) ?? 0) >= part) return this.#refusal(part)
    }
    return undefined
  }

  #refusal(limit: number): BudgetRefusal {
    return { limit, resetMs: this.#minutes.resetMs }
  }

  #count(host: string, by: 1 | -1): void {
    add(this.#hosts, host, by)
  }

  #countGuess(host: string, by: 1 | -1): void {
    this.#guesses += by
    for (const network of networksOf(host)) add(this.#networks, network, by)
  }
}

function add(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + by
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}

/** One request within the budget. */
export class Place {
  readonly #budget: PasswordBudget
  readonly #host: string
  /** The window in which the host counts this request; 0 for none. (password-budget/5) */
  readonly #window: number
  #share: Share = 'none'

  constructor(budget: PasswordBudget, host: string, window: number) {
    this.#budget = budget
    this.#host = host
    this.#window = window
  }

  /** Takes the share of a right password, once for the request. */
  known(): BudgetRefusal | undefined {
    return this.#share === 'none' ? this.#takeOwn('known') : undefined
  }

  /** Takes a share before a password is computed. (password-budget/4) */
  guess(): Guess | BudgetRefusal {
    const budget = this.#budget
    const host = this.#host
    const isOwn = this.#share === 'none'
    const refusal = isOwn ? this.#takeOwn('guess') : budget.take('guess', host, false)
    if (refusal !== undefined) return refusal
    const { window } = budget
    return {
      end: (outcome) => {
        if (outcome === 'wrong' || budget.window !== window) return
        if (!isOwn) return budget.giveBack(host)
        if (outcome === 'dropped') return
        this.#share = 'known'
        budget.prove(host)
      },
    }
  }

  /** Takes a share as a guess does for a request that ends without one. */
  end(): BudgetRefusal | undefined {
    return this.#share === 'none' ? this.#takeOwn('guess') : undefined
  }

  #takeOwn(kind: 'known' | 'guess'): BudgetRefusal | undefined {
    const isCounted = this.#window === this.#budget.window
    const refusal = this.#budget.take(kind, this.#host, isCounted)
    if (refusal === undefined) this.#share = kind
    return refusal
  }
}
