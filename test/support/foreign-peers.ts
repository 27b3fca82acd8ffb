// Devices made from independent programs (openssl for TLS, aioquic for QUIC), and the SDK on top of
// either.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'

import type { ExecutionContext } from 'ava'

import type { Carrier } from '#src/client/carrier'
import type { Python } from './python-library.ts'
import { FramedPeer } from './framed-client.ts'

const QUIC_PEER = new URL('./quic-peer.py', import.meta.url).pathname

/** Opens a connection to the gateway; a device hears at once. */
export type Dial = () => ForeignPeer

export interface ForeignPeer extends FramedPeer {
  /** The standard error output of the program so far. */
  readonly said: () => string
}

/** `openssl s_client`, which checks the certificate. */
export const opensslDial =
  (t: ExecutionContext, port: number, certFile: string): Dial =>
  () => {
    const address = ['-connect', `127.0.0.1:${port}`, '-alpn', 'heliograph']
    const trust = ['-CAfile', certFile, '-verify_return_error', '-verify_ip', '127.0.0.1']
    return overProgram(t, spawn('openssl', ['s_client', '-quiet', ...address, ...trust]))
  }

/** aioquic, which checks the certificate. */
export const aioquicDial =
  (t: ExecutionContext, port: number, certFile: string, { file, env }: Python): Dial =>
  () =>
    overProgram(t, spawn(file, [QUIC_PEER, String(port), certFile], { env }))

/** The standard input and output of a program are the stream. */
function overProgram(t: ExecutionContext, program: ChildProcess): ForeignPeer {
  const { stdin, stdout, stderr } = program
  if (stdin === null || stdout === null || stderr === null) throw new Error('no pipes')
  const end = (): void => void program.kill('SIGKILL')
  t.teardown(end)
  let said = ''
  const peer = new FramedPeer({
    write: (bytes) => void (stdin.writable && stdin.write(bytes)),
    leave: end,
  })
  stdin.on('error', () => undefined)
  stdout.on('data', (chunk: Buffer) => peer.take(chunk))
  stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  program.once('close', () => peer.closed())
  return Object.assign(peer, { said: () => said })
}

/** The SDK's carrier over such a program. */
export const carrierOver =
  (dial: Dial): Carrier =>
  (events) => {
    const peer = dial()
    peer.onText = (text) => events.received(text)
    peer.onClosed = () => events.closed('connection lost')
    queueMicrotask(() => events.opened())
    return { send: (text) => peer.say(text), close: () => peer.leave() }
  }
