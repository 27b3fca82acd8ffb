// D9: pushes over plain node:http2, as many streams at once as the product has, without anything
// before or behind them: no database, no order, no library.

import { connect } from 'node:http2'
import type { ClientHttp2Session } from 'node:http2'

const CONNECTIONS = 4
const STREAMS = 250
const [port = '', token = '', seconds = '1'] = process.argv.slice(2)

const BODY = JSON.stringify({
  aps: { alert: { title: 'a title', body: 'x'.repeat(80) }, sound: 'default' },
  ...Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`field_${index}`, 'y'.repeat(30)]),
  ),
})
const HEADERS = {
  ':method': 'POST',
  authorization: `bearer ${token}`,
  'apns-topic': 'org.example.heliograph',
  'apns-push-type': 'alert',
  'apns-expiration': '1900000000',
}

const untilMs = performance.now() + Number(seconds) * 1_000
let sent = 0

async function pushOnce(session: ClientHttp2Session): Promise<void> {
  sent += 1
  const path = `/3/device/${(sent % 1_000).toString(16).padStart(64, '0')}`
  const stream = session.request({ ...HEADERS, ':path': path })
  await new Promise<void>((resolve, reject) => {
    stream.on('response', ({ ':status': status }) => {
      if (status !== 200) reject(new Error(`answered ${status}`))
    })
    stream.on('error', reject)
    stream.on('close', resolve)
    stream.resume()
    stream.end(BODY)
  })
}

async function lane(session: ClientHttp2Session): Promise<void> {
  while (performance.now() < untilMs) await pushOnce(session)
}

const sessions = Array.from({ length: CONNECTIONS }, () => connect(`https://127.0.0.1:${port}`))
await Promise.all(
  sessions.flatMap((session) => Array.from({ length: STREAMS }, () => lane(session))),
)
for (const session of sessions) session.close()
