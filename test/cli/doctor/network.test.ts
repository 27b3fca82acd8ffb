// Goal: the doctor finds a certificate that ends soon, and one that this computer does not trust.

import test from 'ava'

import type { Finding } from '#src/cli/doctor/finding'
import { aboutCertificate, endpointOf } from '#src/cli/doctor/network'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 0, 31)

const rows: [
  distrust: string | undefined,
  days: number,
  result: Finding['result'],
  detail: RegExp,
][] = [
  [undefined, 90, 'ok', /until 2026-05-01$/],
  [undefined, 14, 'ok', /until/],
  [undefined, 13, 'warning', /ends in 13 days/],
  [undefined, -1, 'problem', /ended on 2026-01-30/],
  ['CERT_HAS_EXPIRED', -1, 'problem', /ended on/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 90, 'problem', /DEPTH_ZERO_SELF_SIGNED_CERT/],
]

test('the finding about a certificate depends on its authority and its end', (t) => {
  for (const [distrust, days, result, detail] of rows) {
    const finding = aboutCertificate('certificate', distrust, NOW + days * DAY_MS, NOW)
    t.is(finding.result, result, `${days} days`)
    t.regex(finding.detail, detail)
    t.is(finding.hint === undefined, result === 'ok')
  }
})

test('host and port of a gateway come from its address', (t) => {
  t.deepEqual(endpointOf('https://a.example/path'), { host: 'a.example', port: 443 })
  t.deepEqual(endpointOf('http://[::1]'), { host: '::1', port: 80 })
  t.deepEqual(endpointOf('http://127.0.0.1:8080'), { host: '127.0.0.1', port: 8080 })
})
