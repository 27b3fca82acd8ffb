// Goal: the listener with TLS serves who trusts its certificate, and everybody else costs a refusal
// and no more.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as dial } from 'node:net'
import { connect as dialTls } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'

import test from 'ava'

import { encode } from '#src/mqtt/codec'
import { makeCertificate } from '#test/support/certificate'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { connect, publish } from '#test/support/mqtt-play'
import { serveMqtt } from '#test/support/mqtt-server'
import { until } from '#test/support/until'

const HELLO = encode(connect({ username: CHANNEL, password: Buffer.from(PASSWORD) }), 4)
const ANSWERS = [0x20, 2, 0, 0, 0x40, 2, 0, 7]

test('a client that trusts the certificate publishes over TLS, another one leaves, and plain bytes are refused', async (t) => {
  const { certFile, keyFile, pem } = await makeCertificate(t)
  let certificate = { cert: pem, key: readFileSync(keyFile, 'utf8') }
  const rig = await serveMqtt(t, () => certificate)
  const { port, meter, sink, listener } = rig
  const connections = (): number => meter.gauges.get('device_connections{mqtt}')?.() ?? -1
  const refused = (): number => meter.total('connections_refused_total{mqtt,failed_handshake}')
  const publishOver = async (options: ConnectionOptions): Promise<unknown> => {
    const socket = dialTls({ port, host: '127.0.0.1', ...options })
    t.teardown(() => socket.destroy())
    const heard: Buffer[] = []
    socket.on('data', (bytes: Buffer) => heard.push(bytes))
    const failed = once(socket, 'error').then(([error]) => String(Reflect.get(error, 'code')))
    socket.write(Buffer.concat([HELLO, encode(publish(1, 7), 4)]))
    const isAnswered = (): boolean => Buffer.concat(heard).length === ANSWERS.length
    const answered = until('it is answered', () => socket.destroyed || isAnswered())
    const outcome = await Promise.race([
      failed,
      answered.then(() => Array.from(Buffer.concat(heard))),
    ])
    socket.destroy()
    failed.catch(() => undefined)
    await until('its slot is free', () => connections() === 0)
    return outcome
  }
  const ca = readFileSync(certFile)
  t.deepEqual(await publishOver({ ca }), ANSWERS)
  t.is(await publishOver({}), 'DEPTH_ZERO_SELF_SIGNED_CERT')
  t.is(
    await publishOver({ ca, host: '127.0.0.1', servername: 'elsewhere' }),
    'ERR_TLS_CERT_ALTNAME_INVALID',
  )
  const plain = dial({ port, host: '127.0.0.1' })
  plain.on('error', () => undefined)
  plain.write(HELLO)
  await once(plain, 'close')
  await until('it is counted', () => refused() > 0)
  t.is(sink.accepted.length, 1)
  // A broken certificate leaves the one before in its place.
  const good = certificate
  certificate = { cert: 'no certificate', key: good.key }
  await t.throwsAsync(listener.reload())
  t.deepEqual(await publishOver({ ca }), ANSWERS)
})
