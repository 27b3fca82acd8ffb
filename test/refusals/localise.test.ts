import test from 'ava'

import { FAULTS } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import { localeOf, sentenceOf } from '#src/refusals/localise'
import type { Locale } from '#src/refusals/localise'

const rows: readonly (readonly [header: string, expected: Locale])[] = [
  ['', 'en'],
  ['zh-CN', 'zh-CN'],
  ['zh', 'zh-CN'],
  ['ZH-hans-cn', 'zh-CN'],
  ['en-GB,zh;q=0.9', 'en'],
  ['zh;q=0.5,en;q=0.4', 'zh-CN'],
  ['zh;q=0.4, en;q=0.5', 'en'],
  ['fr, de;q=0.9', 'en'],
  ['fr, zh-TW;q=0.1', 'zh-CN'],
  ['zh;q=0', 'en'],
  ['zh;q=0, *', 'en'],
  ['zh;q=nonsense', 'en'],
  ['zh;q=2', 'en'],
  ['zhx', 'en'],
  [';;,,=', 'en'],
  [`${'fr,'.repeat(400)}zh`, 'en'],
]

for (const [header, expected] of rows) {
  test(`"${header.slice(0, 40)}" asks for ${expected}`, (t) => {
    t.is(localeOf(header), expected)
  })
}

test('every fault has a sentence of its own in each language', (t) => {
  for (const code of Object.keys(FAULTS) as FaultCode[]) {
    const chinese = sentenceOf(code, 'zh-CN')
    t.regex(chinese, /\p{Script=Han}/u, code)
    t.is(sentenceOf(code, 'en'), FAULTS[code])
  }
})
