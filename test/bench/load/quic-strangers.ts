// A process that sends first packets of QUIC which do not open, as fast as it is told: in turn one
// without a token, which costs the gateway a Retry, and one with a valid token.

import { randomBytes } from 'node:crypto'

import { Stranger, broken } from '#test/support/quic-stranger'
import type { Ticket } from '#test/support/quic-stranger'
import type { DatagramOrder, DatagramReport } from './messages.ts'

const TICK_MS = 5
/** A token is valid for ten seconds. */
const TICKET_MS = 2_000

async function flood({ port, ratePerSecond, durationMs }: DatagramOrder): Promise<DatagramReport> {
  const closing: (() => void)[] = []
  const stranger = await Stranger.at({ teardown: (close) => closing.push(close) }, port)
  const startMs = performance.now()
  let ticket: Ticket | undefined
  let tickets = 0
  let sent = 0
  let passedMs = 0
  while (passedMs < durationMs) {
    if (passedMs >= tickets * TICKET_MS) {
      ticket = await stranger.ticket()
      tickets += 1
    }
    for (; sent < (passedMs * ratePerSecond) / 1_000; sent += 1) {
      const fresh = { id: randomBytes(16), token: Buffer.alloc(0) }
      stranger.send(broken(stranger.packet(sent % 2 === 0 ? fresh : (ticket ?? fresh))))
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS))
    passedMs = performance.now() - startMs
  }
  for (const close of closing) close()
  return { sent, retries: stranger.retries }
}

process.on('message', (order: DatagramOrder) => {
  void flood(order).then((report) => process.send?.(report))
})
// The bench is gone.
process.on('disconnect', () => process.exit())
