// Goal: who gets in. Each row is one request at a callerCheck whose budget has room for one.

import test from 'ava'

import { isFault } from '#domain/fault'
import type { Guard } from '#src/acceptance/caller-check'
import { callerCheckFor } from '#test/support/admission'

const GUARDS = {
  free: { token: 'required', budget: 'none' },
  passwords: { token: 'required', budget: 'passwords' },
  devices: { token: 'required', budget: 'devices' },
  public: { token: 'none', budget: 'passwords' },
  handler: { token: 'none', budget: 'guesses' },
} as const satisfies Record<string, Guard>

interface Row {
  readonly gateway: 'open' | 'secret'
  readonly guard: keyof typeof GUARDS
  readonly authorization?: string
  readonly bareToken?: string
  /** The outcome of the first two requests: the address that is counted, none, or a code. */
  readonly expected: readonly [unknown, unknown]
}

const rows: readonly Row[] = [
  { gateway: 'open', guard: 'free', expected: [undefined, undefined] },
  { gateway: 'open', guard: 'passwords', expected: ['host', 'rate_limited'] },
  { gateway: 'open', guard: 'devices', expected: ['host', 'host'] },
  { gateway: 'open', guard: 'public', expected: ['host', 'rate_limited'] },
  {
    gateway: 'secret',
    guard: 'passwords',
    authorization: 'Bearer secret',
    expected: [undefined, undefined],
  },
  { gateway: 'secret', guard: 'passwords', bareToken: 'secret', expected: [undefined, undefined] },
  {
    gateway: 'secret',
    guard: 'devices',
    authorization: 'Bearer secret',
    expected: [undefined, undefined],
  },
  {
    gateway: 'secret',
    guard: 'free',
    expected: ['authentication_failed', 'authentication_failed'],
  },
  {
    gateway: 'secret',
    guard: 'free',
    authorization: 'Bearer no',
    expected: ['authentication_failed', 'rate_limited'],
  },
  {
    gateway: 'secret',
    guard: 'free',
    bareToken: 'no',
    expected: ['authentication_failed', 'rate_limited'],
  },
  {
    gateway: 'secret',
    guard: 'devices',
    authorization: 'x',
    expected: ['authentication_failed', 'rate_limited'],
  },
  { gateway: 'secret', guard: 'public', expected: ['host', 'rate_limited'] },
  { gateway: 'secret', guard: 'handler', authorization: 'Bearer no', expected: ['host', 'host'] },
]

for (const { gateway, guard, authorization = '', bareToken = '', expected } of rows) {
  const sent = `"${authorization}" and "${bareToken}"`
  test(`caller-check/2: a ${gateway} gateway answers ${sent} at a ${guard} guard with ${expected.join(', then ')}`, (t) => {
    const token = gateway === 'open' ? '' : 'secret'
    const callerCheck = callerCheckFor(token, { perAddress: 1, total: 10 })
    const ask = (): unknown => {
      const admitted = callerCheck.admit(
        GUARDS[guard],
        { address: 'host' },
        authorization,
        bareToken,
      )
      if (isFault(admitted)) return admitted.code
      const limited = admitted.attempt?.end() // No credential was shown.
      if (limited !== undefined) return limited.code
      return admitted.isCounted === true ? admitted.origin?.address : undefined
    }
    t.deepEqual([ask(), ask()], expected)
  })
}

test('caller-check/1: proof of the token counts nowhere, and where no line needs it the address is not asked for', (t) => {
  const callerCheck = callerCheckFor('secret', { perAddress: 1, total: 1 })
  const peer = {
    get address(): string {
      return t.fail()
    },
  }
  t.deepEqual(callerCheck.admit(GUARDS.free, peer, 'Bearer secret'), {})
  for (let count = 0; count < 3; count += 1) {
    const admitted = callerCheck.admit(GUARDS.passwords, { address: 'host' }, 'Bearer secret')
    if (isFault(admitted)) return t.fail()
    t.is(admitted.attempt?.refused('channel password'), undefined)
  }
})

const proofs: readonly (readonly [gateway: string, authorization: string, isProof: boolean])[] = [
  ['secret', 'Bearer secret', true],
  ['secret', 'Bearer no', false],
  ['secret', '', false],
  ['', '', false],
  ['', 'Bearer ', false],
  ['', 'Bearer secret', false],
]

for (const [gateway, authorization, isProof] of proofs) {
  test(`caller-check/3: "${authorization}" ${isProof ? 'proves' : 'is not'} the token "${gateway}"`, (t) => {
    const callerCheck = callerCheckFor(gateway, { perAddress: 1, total: 10 })
    t.is(callerCheck.provesToken(authorization), isProof)
    const origin = { address: 'host', requestId: 'r' }
    const guess = { origin, isCounted: true, receivedAtMs: 0 }
    t.is(callerCheck.countGuess(guess, 'access token'), undefined)
    t.like(callerCheck.countGuess(guess, 'access token'), { code: 'rate_limited' })
  })
}
