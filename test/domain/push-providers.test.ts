// Goal: a new row of the providers is right without a change elsewhere. Method: the example of each
// row is asked of every row.

import test from 'ava'

import { PROVIDERS, platformsOf, providerRow } from '#domain/push/providers'

test('the example of each provider is a token of it, in its pattern, and of no other one', (t) => {
  for (const name of PROVIDERS) {
    const { token, ...row } = providerRow(name)
    t.is(token.read(token.example), token.example, name)
    t.regex(token.example, new RegExp(`^(?:${token.pattern})$`, 'u'), name)
    for (const other of PROVIDERS) {
      const isShared = platformsOf(providerRow(other)).some((one) => platformsOf(row).includes(one))
      if (other === name || !isShared) continue
      t.is(providerRow(other).token.read(token.example), undefined, `${name} is read by ${other}`)
    }
  }
})
