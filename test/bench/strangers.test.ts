import test from 'ava'

import { stamp } from './load/payload.ts'
import { STRANGERS, prepareStrangers } from './load/strangers.ts'

const RECIPE = { token: 'token', channels: ['A'.repeat(26), 'B'.repeat(26)] }

for (const stranger of STRANGERS) {
  test(`a request of ${stranger} is valid HTTP, whenever it is due`, (t) => {
    for (const prepared of prepareStrangers({ ...RECIPE, stranger })) {
      const [head = '', body = ''] = stamp(prepared, 1, 987_654_321).toString().split('\r\n\r\n')
      t.regex(head, /^(GET|POST) \/\S+ HTTP\/1\.1\r\n/)
      t.true(head.includes(`content-length: ${Buffer.byteLength(body)}`))
      if (body !== '') t.notThrows(() => void JSON.parse(body))
    }
  })
}

// Method: what of a request is new with each use.
for (const [stranger, part] of [
  ['passwords', /"guess-1000000987654321"/],
  ['statuses', /\/send_status\/f{16}1000000987654321 /],
] as const) {
  test(`each use of a request of ${stranger} asks for something new`, (t) => {
    for (const prepared of prepareStrangers({ ...RECIPE, stranger })) {
      t.regex(stamp(prepared, 1, 987_654_321).toString(), part)
    }
  })
}
