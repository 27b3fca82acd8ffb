// D10: pushes of the same size over plain node:https with kept connections, as many at once as the
// product has, encrypted beforehand, without anything before or behind them.

import { Agent, request } from 'node:https'

const AT_ONCE = 128
const [port = '', _token = '', seconds = '1'] = process.argv.slice(2)

/** The size of the product's push for the Message of the row. */
const BODY = Buffer.alloc(820, 'x')
const HEADERS = {
  authorization: `vapid t=${'t'.repeat(220)}, k=${'k'.repeat(87)}`,
  ttl: '86400',
  urgency: 'normal',
  topic: 't'.repeat(32),
  'content-encoding': 'aes128gcm',
  'content-type': 'application/octet-stream',
  'content-length': String(BODY.length),
}

const untilMs = performance.now() + Number(seconds) * 1_000
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
let sent = 0

async function pushOnce(): Promise<void> {
  sent += 1
  const path = `/push/${sent % 1_000}`
  const options = { host: '127.0.0.1', port, path, method: 'POST', headers: HEADERS, agent }
  await new Promise<void>((resolve, reject) => {
    const asked = request(options, (answer) => {
      if (answer.statusCode !== 201) reject(new Error(`answered ${answer.statusCode}`))
      answer.on('end', resolve)
      answer.resume()
    })
    asked.on('error', reject)
    asked.end(BODY)
  })
}

async function lane(): Promise<void> {
  while (performance.now() < untilMs) await pushOnce()
}

await Promise.all(Array.from({ length: AT_ONCE }, lane))
agent.destroy()
