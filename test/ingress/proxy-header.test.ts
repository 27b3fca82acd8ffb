// Goal: a PROXY header on the HTTP port changes no caller's address. The HTTP library takes one of
// version 2 in front of every request, so a client behind a proxy could send its own.

import test from 'ava'

import { startIngress } from '#test/support/start-ingress'
import type { Raw } from '#test/support/start-ingress'
import { v2 } from '#test/support/proxy-header'

const PROXIED = 0x21
const TCP_OVER_IPV4 = 0x11

/** A header that names 203.0.113.`last` as the caller. */
const headerOf = (last: number): Buffer =>
  v2(PROXIED, TCP_OVER_IPV4, [203, 0, 113, last, 127, 0, 0, 1, 0x10, 0x00, 0x00, 80])

const BODY = '{"platform":"ios"}'
const REGISTRATION = `POST /device/register HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`

const statuses = (raw: Raw): readonly string[] =>
  [...raw.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = '']) => status)

test('a PROXY header of a trusted proxy gives its callers no budget of their own', async (t) => {
  const options = { trustedProxies: ['127.0.0.1'], deviceBudgetPerAddress: 2 }
  const { connect } = await startIngress(t, options)
  const raw = connect()
  for (const [request, expected] of ['200', '200', '429'].entries()) {
    raw.socket.write(Buffer.concat([headerOf(request + 1), Buffer.from(REGISTRATION)]))
    await raw.until(new RegExp(`(HTTP/1.1 [^]*){${request + 1}}\\}$`))
    t.is(statuses(raw)[request], expected)
  }
})
