// The contract of the secrets that the gateway makes once.

import test from 'ava'

import type { OpenStore } from './store-contract.ts'

export function secretContract(engine: string, open: OpenStore): void {
  test(`${engine}: kept-secrets/1: the first secret of a name is the one that everybody gets`, async (t) => {
    const { secrets } = await open(t)
    const asked = ['one', 'two', 'three'].map((first) => secrets.kept('name', first))
    const [kept = '', ...others] = await Promise.all(asked)
    t.true(['one', 'two', 'three'].includes(kept))
    for (const other of others) t.is(other, kept)
    t.is(await secrets.kept('name', 'four'), kept)
    t.is(await secrets.kept('another name', 'five'), 'five')
  })
}
