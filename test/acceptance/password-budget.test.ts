// Goal: guesses never take the room of known passwords. Method: random requests of strangers and
// senders, whose bodies come when they come, against a model that counts the shares it saw given.

import test from 'ava'
import * as fc from 'fast-check'

import { hostOf, networksOf } from '#domain/host'
import type { BudgetRefusal } from '#src/acceptance/budget'
import { HOSTS_MAX, PasswordBudget, Place } from '#src/acceptance/password-budget'
import type { Guess } from '#src/acceptance/password-budget'
import { FakeTime } from '#test/support/fake-timers'

const LIMITS = { perAddress: 60, total: 1_200 }

/** Addresses of strangers: of one /56, of its /48, of the next /48 and IPv4. */
const stranger = fc.oneof(
  fc.nat(0xff).map((n) => `2001:db8:0:${n.toString(16)}::1`),
  fc.nat(0xffff).map((n) => `2001:db8:0:${n.toString(16)}::1`),
  fc.nat(0xff).map((n) => `2001:db8:1:${n.toString(16)}::1`),
  fc.nat(30).map((n) => `192.0.2.${n}`),
)

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('enter' as const), by: stranger }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('guess' as const), at: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), at: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('drop' as const), at: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('right' as const), at: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('send' as const), from: fc.nat(400) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(20_000) }) },
)

interface Held {
  readonly host: string
  readonly isSender?: true
  guess?: Guess
  isOwn?: boolean
}

/** Every share that was given in this minute, and what it is for. */
class Model {
  readonly budget: PasswordBudget
  readonly time = new FakeTime(0)
  places: { readonly place: Place; readonly host: string; hasShare: boolean }[] = []
  guesses: Held[] = []
  known: string[] = []
  #window = 0

  constructor(limits: typeof LIMITS) {
    this.budget = new PasswordBudget(limits, this.time.nowMs)
  }

  turn(): void {
    if (this.#window === this.budget.window) return
    this.#window = this.budget.window
    this.guesses = []
    this.known = []
  }

  get shares(): readonly string[] {
    return [...this.known, ...this.guesses.map(({ host }) => host)]
  }
}

const countOf = (names: readonly string[]): number =>
  Math.max(0, ...[...Map.groupBy(names, (name) => name).values()].map((same) => same.length))

const limits = fc.constantFrom(LIMITS, { perAddress: 3, total: 20 }, { perAddress: 9, total: 7 })

test('password-budget/1, password-budget/2, password-budget/4: no share goes beyond its bound, and a known password is refused only when half is full of them', (t) => {
  fc.assert(
    fc.property(limits, fc.array(step, { size: 'max', maxLength: 2_000 }), (given, steps) => {
      const model = new Model(given)
      for (const one of steps) {
        model.time.advance(one.kind === 'wait' ? one.ms : 0)
        model.turn()
        apply(model, one)
        const { known, guesses, shares } = model
        const hosts = guesses.map(({ host }) => host)
        const networks = hosts.flatMap((host) => networksOf(host))
        t.true(shares.length <= given.total)
        t.true(countOf(shares) <= given.perAddress)
        t.true(guesses.length <= Math.ceil(given.total / 2))
        for (const [suffix, part] of [
          ['/56', 10],
          ['/48', 5],
        ] as const) {
          const ofKind = networks.filter((network) => network.endsWith(suffix))
          t.true(countOf(ofKind) <= Math.ceil(given.total / part))
        }
        if (one.kind === 'send' && isRefused(one)) {
          const own = known.filter((host) => host === senderOf(one.from)).length
          t.true(own >= given.perAddress || known.length >= Math.floor(given.total / 2))
        }
      }
    }),
    { numRuns: 60 },
  )
})

const refusedSends = new WeakSet<object>()
const isRefused = (send: object): boolean => refusedSends.has(send)
const senderOf = (from: number): string => `198.51.100.${from}`
const isRefusal = (outcome: object | undefined): outcome is BudgetRefusal =>
  outcome !== undefined && 'limit' in outcome

function apply(
  model: Model,
  one: typeof step extends fc.Arbitrary<infer Step> ? Step : never,
): void {
  const { budget, places, guesses, known } = model
  switch (one.kind) {
    case 'enter': {
      const place = budget.enter(one.by)
      if (place instanceof Place) places.push({ place, host: hostOf(one.by), hasShare: false })
      return
    }
    case 'send': {
      const place = budget.enter(senderOf(one.from))
      const refusal = place instanceof Place ? place.known() : place
      if (refusal === undefined) known.push(senderOf(one.from))
      else refusedSends.add(one)
      return
    }
    case 'guess':
    case 'end': {
      const at = places[one.at % places.length]
      if (at === undefined) return
      const isOwn = !at.hasShare
      if (one.kind === 'end' && !isOwn) return
      const outcome = one.kind === 'end' ? at.place.end() : at.place.guess()
      if (isRefusal(outcome)) return
      at.hasShare = true
      guesses.push({ host: at.host, ...(outcome && { guess: outcome, isOwn }) })
      return
    }
    case 'wait':
      return
    case 'drop':
    case 'right': {
      const index = guesses.findIndex(({ guess }) => guess !== undefined)
      const held = guesses[index]
      if (held?.guess === undefined) return
      const { guess, isOwn, host } = held
      delete held.guess
      guess.end(one.kind === 'drop' ? 'dropped' : 'right')
      if (isOwn !== true || one.kind === 'right') guesses.splice(index, 1)
      if (isOwn === true && one.kind === 'right') known.push(host)
    }
  }
}

test('password-budget/3: places whose bodies never come take nothing from other addresses', (t) => {
  const budget = new PasswordBudget(LIMITS, () => 0)
  for (let n = 0; n < HOSTS_MAX + 1_000; n += 1) {
    const address = `2001:db8:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}::`
    t.true(budget.enter(address) instanceof Place)
  }
  t.is(budget.hosts, HOSTS_MAX) // password-budget/5
  t.is(entered(budget, '192.0.2.1').known(), undefined)
})

test('password-budget/5: an address beyond those remembered gets its 60 shares and no more', (t) => {
  const budget = new PasswordBudget({ perAddress: 60, total: 1_200 }, () => 0)
  for (let n = 0; n < HOSTS_MAX; n += 1) budget.enter(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`)
  const place = entered(budget, '192.0.2.1')
  for (let count = 0; count < 60; count += 1) t.is(entered(budget, '192.0.2.1').known(), undefined)
  t.deepEqual(place.known(), { limit: 60, resetMs: 60_000 })
})

const entered = (budget: PasswordBudget, address: string): Place => {
  const place = budget.enter(address)
  if (place instanceof Place) return place
  throw new Error('the budget let nobody in')
}

const guessed = (place: Place): Guess => {
  const guess = place.guess()
  if ('end' in guess) return guess
  throw new Error('the budget has no share')
}

test('password-budget/4: right guesses leave their room to others, wrong and dropped ones do not', (t) => {
  const budget = new PasswordBudget({ perAddress: 9, total: 4 }, () => 0)
  guessed(entered(budget, 'a')).end('right')
  guessed(entered(budget, 'b')).end('right')
  guessed(entered(budget, 'c')).end('dropped')
  const last = entered(budget, 'd')
  guessed(last)
  t.deepEqual(last.guess(), { limit: 4, resetMs: 60_000 })
  t.deepEqual(budget.enter('e'), { limit: 4, resetMs: 60_000 })
})

test('password-budget/4: further guesses of a request that are right cost its address nothing', (t) => {
  const budget = new PasswordBudget({ perAddress: 2, total: 10 }, () => 0)
  const place = entered(budget, 'a')
  for (let count = 0; count < 50; count += 1) guessed(place).end('right')
  t.is(place.known(), undefined)
  guessed(place)
  t.deepEqual(place.guess(), { limit: 2, resetMs: 60_000 })
})

test('password-budget/5: the end of a guess changes nothing in a later minute', (t) => {
  const time = new FakeTime(0)
  const budget = new PasswordBudget({ perAddress: 9, total: 2 }, time.nowMs)
  const old = guessed(entered(budget, 'a'))
  time.advance(60_000)
  guessed(entered(budget, 'b'))
  old.end('right')
  t.deepEqual(entered(budget, 'c').guess(), { limit: 1, resetMs: 60_000 })
})

test('password-budget/5: a request whose password comes a minute later counts in that minute', (t) => {
  const time = new FakeTime(0)
  const budget = new PasswordBudget({ perAddress: 1, total: 10 }, time.nowMs)
  const late = entered(budget, 'a')
  time.advance(60_000)
  t.is(late.known(), undefined)
  t.deepEqual(budget.enter('a'), { limit: 1, resetMs: 60_000 })
})
