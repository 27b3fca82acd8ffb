// Goal: clients of the package registry, as they are, send through the gateway once their address
// and key are ours, and notice when they did not.

import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Agent } from 'node:https'
import https from 'node:https'
import { join } from 'node:path'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'

import test from 'ava'
import { MessagePriority, NtfyClient } from 'ntfy'
import { scSend } from 'serverchan-sdk'

import { compatibilityStyles } from '#src/compat/styles'
import { temporaryFolder } from '#test/support/gateway'
import { CREDENTIALS } from '#test/support/making'
import { SEND_KEY_HOST, startSendKeyHost } from '#test/support/send-key-host'
import { sentMessages } from '#test/support/sent-message'
import { startIngress } from '#test/support/start-ingress'

const UNKNOWN = 'A'.repeat(43)

test('the client of the topic tool publishes, and throws at a refusal', async (t) => {
  const rig = await startIngress(t, { styles: compatibilityStyles({ keptMs: 60_000 }) })
  const made = await rig.post('/channel/key', CREDENTIALS)
  const { key: topic } = made.json['data'] as { readonly key: string }
  const server = `${rig.url}/compat-topic/`
  const client = new NtfyClient({ server })
  const answer = await client.publish({
    topic,
    title: 'Disk',
    message: 'root volume at 91 %',
    priority: MessagePriority.MAX,
    tags: ['warning', 'disk'],
    clickURL: 'https://example.com/disk',
    iconURL: 'https://example.com/i.png',
    fileURL: 'https://example.com/graph.png',
    actions: [{ type: 'view', label: 'Open', url: 'https://example.com' }],
    markdown: true,
  })
  t.like(answer, { event: 'message', title: 'Disk', priority: 5 })
  t.like(sentMessages(rig.sink)[0], {
    title: 'Disk',
    body: 'root volume at 91 %',
    severity: 'critical',
    images: ['https://example.com/graph.png'],
    tags: ['warning', 'disk'],
  })
  await t.throwsAsync(client.publish({ topic: UNKNOWN, message: 'M' }), { message: /Not Found/ })
  const fileAttachment = join(await temporaryFolder(t), 'a.bin')
  await writeFile(fileAttachment, Buffer.of(0xff, 0xfe))
  await t.throwsAsync(client.publish({ topic, fileAttachment }), { message: /Bad Request/ })
  t.is(rig.sink.accepted.length, 1)
  t.like(await client.publish({ topic, message: 'later', delay: '30min' }), { message: 'later' })
  const minutes = rig.sink.accepted.map((submission) => {
    if (submission.model !== 'message' || submission.schedule === undefined) return 'at once'
    return (submission.schedule.deliverAt - submission.acceptedAt) / 60_000
  })
  t.deepEqual(minutes, ['at once', 30])
})

/** Its connections lead to a port of this machine, whatever host is asked for. */
class Local extends Agent {
  readonly #port: number
  readonly #ca: string

  constructor(port: number, ca: string) {
    super()
    this.#port = port
    this.#ca = ca
  }

  override createConnection(): TLSSocket {
    const [port, ca] = [this.#port, this.#ca]
    return connect({ host: '127.0.0.1', port, ca, servername: SEND_KEY_HOST })
  }
}

test('the client of the send-key tool, whose host is fixed, sends, and sees a refusal', async (t) => {
  const { rig, certificate, key } = await startSendKeyHost(t)
  const before = https.globalAgent
  https.globalAgent = new Local(rig.port, certificate)
  t.teardown(() => {
    https.globalAgent.destroy()
    https.globalAgent = before
  })
  const answer = await scSend(key, '主机', 'the **disk** is full', { tags: 'disk|host' })
  t.like(answer, { code: 0, data: { error: 'SUCCESS', errno: 0 } })
  t.deepEqual(sentMessages(rig.sink), [
    { title: '主机', body: 'the **disk** is full', tags: ['disk', 'host'] },
  ])
  t.like(await scSend(UNKNOWN, 'T', 'M'), { code: 40_001 })
  t.is(rig.sink.accepted.length, 1)
})

/** The part of `all-pusher-api` that is used here; it has no types of its own. */
interface Pushers {
  readonly PushApi: new (
    services: readonly { readonly name: string; readonly config: { readonly key: object } }[],
  ) => {
    send(options: object): Promise<readonly { readonly result: { readonly status: number } }[]>
  }
}

const { PushApi } = createRequire(import.meta.url)('all-pusher-api') as Pushers

test('a program for many services sends by its device-key part, and sees a refusal', async (t) => {
  const rig = await startIngress(t, { styles: compatibilityStyles({ keptMs: 60_000 }) })
  const made = await rig.post('/channel/key', CREDENTIALS)
  const { key } = made.json['data'] as { readonly key: string }
  const send = async (token: string) => {
    const config = { key: { token, baseURL: `${rig.url}/compat-devicekey/push` } }
    const [outcome] = await new PushApi([{ name: 'Bark', config }]).send({
      title: 'Disk',
      message: 'root volume at 91 %',
      extraOptions: { level: 'timeSensitive', group: 'hosts', url: 'https://example.com/disk' },
    })
    return outcome?.result.status
  }
  t.is(await send(key), 200)
  t.like(sentMessages(rig.sink)[0], {
    title: 'Disk',
    body: 'root volume at 91 %',
    severity: 'high',
    url: 'https://example.com/disk',
  })
  t.not(await send(UNKNOWN), 200)
  t.is(rig.sink.accepted.length, 1)
})
