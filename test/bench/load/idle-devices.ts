// Devices that are connected over TLS and do nothing but answer the heartbeat, as a process of its
// own. Their whole state is a socket each: thousands of them fit.

import { once } from 'node:events'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'

import type { IdleOrder } from './messages.ts'
import { frameOf } from './websocket.ts'

const OPCODE_TEXT = 0x81
const ANSWER_WITHIN_MS = 60_000
/** Handshakes at once. */
const AT_ONCE = 32
const PING = '"type":"ping"'
const PONG = frameOf(OPCODE_TEXT, Buffer.from('{"type":"pong"}'))

/** Resolves once the server has agreed, and has greeted where there is a hello. */
async function open(port: number, hello: string | undefined): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  socket.on('error', () => process.exit(1))
  await once(socket, 'secureConnect')
  socket.write(
    'GET /private/ws HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: Upgrade\r\n' +
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n' +
      'sec-websocket-protocol: heliograph.v1\r\n\r\n',
  )
  await said(socket, '101 Switching')
  if (hello !== undefined) {
    socket.write(frameOf(OPCODE_TEXT, Buffer.from(hello)))
    await said(socket, '"type":"welcome"')
  }
  socket.on('data', (bytes: Buffer) => {
    if (bytes.includes(PING)) socket.write(PONG)
  })
}

/** Rejects when the server has not said it in time. */
async function said(socket: TLSSocket, sought: string): Promise<void> {
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
  let text = ''
  while (!text.includes(sought)) {
    const [bytes] = (await once(socket, 'data', { signal })) as [Buffer]
    text += bytes.toString('latin1')
  }
}

process.on('message', ({ port, hellos }: IdleOrder) => {
  const left = hellos.values()
  const worker = async (): Promise<void> => {
    for (const hello of left) await open(port, hello ?? undefined)
  }
  void Promise.all(Array.from({ length: AT_ONCE }, worker)).then(() => process.send?.({}))
})
// The bench is gone.
process.on('disconnect', () => process.exit())
