// Goal: with a certificate the gateway itself speaks HTTPS and WSS, and without a good one it says
// which setting is wrong.

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { connect } from 'node:tls'

import test from 'ava'

import { makeCertificate, withCertificate } from '#test/support/certificate'
import type { Certificate } from '#test/support/certificate'
import { TOKEN, startGateway, temporaryFolder, until } from '#test/support/gateway'
import type { Envelope } from '#test/support/gateway'
import { RawWebSocket } from '#test/support/raw-websocket'

const PASSWORD = 'correct-horse-battery'

const settingsOf = ({ certFile, keyFile }: Pick<Certificate, 'certFile' | 'keyFile'>) => ({
  SERVICE_HTTP_TLS_CERT: certFile,
  SERVICE_HTTP_TLS_KEY: keyFile,
})

/** A POST over HTTPS that trusts one certificate only. */
function postTo(baseUrl: string, ca: string) {
  return (path: string, body: object): Promise<Envelope['data']> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` }
      const sent = request(baseUrl + path, { method: 'POST', ca, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => {
          const envelope = JSON.parse(text) as Envelope
          if (envelope.success) resolve(envelope.data)
          else reject(new Error(text))
        })
      })
      sent.on('error', reject).end(JSON.stringify(body))
    })
}

test(
  'a submission over HTTPS reaches a device over WSS',
  withCertificate(async (t, certificate) => {
    const gateway = await startGateway(t, { env: settingsOf(certificate) })
    const baseUrl = gateway.baseUrl.replace('http:', 'https:')
    const post = postTo(baseUrl, certificate.pem)
    const { channel_id } = await post('/channel/create', { channel_name: 'a', password: PASSWORD })
    const { device_key } = await post('/device/register', { platform: 'linux' })
    await post('/channel/subscribe', { device_key, channel_id, password: PASSWORD })

    const frames: string[] = []
    const url = `${baseUrl.replace('https:', 'wss:')}/private/ws`
    const device = await RawWebSocket.open(url, (text) => frames.push(text), certificate.pem)
    t.teardown(() => device.socket.destroy())
    device.send(JSON.stringify({ type: 'hello', device_key, gateway_token: TOKEN }))
    const heard = (type: string) =>
      until(
        () => Promise.resolve(frames),
        (texts) => texts.some((text) => text.includes(`"type":"${type}"`)),
      )
    await heard('welcome')
    await post('/message', { channel_id, password: PASSWORD, title: 'over TLS' })
    t.regex((await heard('deliver')).join(), /"title":"over TLS"/)
    // A caller without TLS gets nothing.
    await t.throwsAsync(fetch(`${gateway.baseUrl}/healthz`))
    t.is(await gateway.end('SIGTERM'), 0)
  }),
)

/** The certificate that a new connection is shown. */
async function certificateOn(baseUrl: string): Promise<string> {
  const { port } = new URL(baseUrl)
  const socket = connect({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

test(
  'applications/2: SIGHUP takes a new certificate for new connections; sessions and the port stay',
  withCertificate(async (t, { certFile, keyFile, pem }) => {
    const env = settingsOf({ certFile, keyFile })
    const gateway = await startGateway(t, { env })
    const baseUrl = gateway.baseUrl.replace('http:', 'https:')
    const { device_key } = await postTo(baseUrl, pem)('/device/register', { platform: 'linux' })
    const frames: string[] = []
    const url = `${baseUrl.replace('https:', 'wss:')}/private/ws`
    const device = await RawWebSocket.open(url, (text) => frames.push(text), pem)
    t.teardown(() => device.socket.destroy())
    device.send(JSON.stringify({ type: 'hello', device_key, gateway_token: TOKEN }))
    const hears = (part: string) =>
      until(
        () => Promise.resolve(frames),
        (texts) => texts.some((text) => text.includes(part)),
      )
    await hears('"type":"welcome"')
    const reloads = (fact: string) =>
      until(
        () => Promise.resolve(gateway.lines),
        (lines) => lines.some((line) => line.fact === fact),
      )
    t.is(await certificateOn(baseUrl), new X509Certificate(pem).fingerprint256)

    // A pair that does not fit is refused, and the old one stays.
    const other = await makeCertificate(t)
    await copyFile(other.certFile, certFile)
    gateway.process.kill('SIGHUP')
    await reloads('a certificate was not reloaded')
    t.is(await certificateOn(baseUrl), new X509Certificate(pem).fingerprint256)

    await copyFile(other.keyFile, keyFile)
    gateway.process.kill('SIGHUP')
    await reloads('certificates reloaded')
    t.is(await certificateOn(baseUrl), new X509Certificate(other.pem).fingerprint256)
    const registered = await postTo(baseUrl, other.pem)('/device/register', { platform: 'linux' })
    t.regex(String(registered['device_key']), /^[0-9a-f]{32}$/)
    device.send(JSON.stringify({ type: 'ping', t: 'still here' }))
    await hears('{"type":"pong","t":"still here"}')
    t.is(await gateway.end('SIGTERM'), 0)
    await hears('"reason":"shutdown"')
  }),
)

test(
  'a key that cannot be used ends the start with a sentence that names its setting',
  withCertificate(async (t, { certFile }) => {
    const folder = await temporaryFolder(t)
    const rows: [keyFile: string, sentence: RegExp][] = [
      [
        join(folder, 'none.pem'),
        /ended with 78: .*SERVICE_HTTP_TLS_KEY names .*, which does not exist/s,
      ],
      // A folder can be read by nobody, root included.
      [folder, /ended with 1: .*SERVICE_HTTP_TLS_KEY names .*, which cannot be read \(EISDIR\)/],
    ]
    for (const [keyFile, sentence] of rows) {
      const env = settingsOf({ certFile, keyFile })
      await t.throwsAsync(startGateway(t, { env }), { message: sentence })
    }
  }),
)
