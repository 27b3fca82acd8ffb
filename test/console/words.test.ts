import test from 'ava'

import { EN } from '#console/words/en.ts'
import { ZH_CN } from '#console/words/zh-cn.ts'

const placesOf = (text: string): readonly string[] =>
  [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).toSorted()

test('both languages have the same places in every text', (t) => {
  for (const [name, text] of Object.entries(EN)) {
    const chinese = ZH_CN[name as keyof typeof EN]
    t.deepEqual(placesOf(chinese), placesOf(text), name)
    t.not(chinese.trim(), '', name)
  }
})
