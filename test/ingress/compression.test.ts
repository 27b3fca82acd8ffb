// Goal: what a channel has comes compressed to whoever takes that, within bounds; answers with
// credentials never do. Method: requests over sockets, whose bytes are looked at.

import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, createGunzip, gunzipSync } from 'node:zlib'

import test from 'ava'

import type { FeedEntry } from '#domain/feed'
import type { EntityId } from '#domain/identity'
import { Compression } from '#src/ingress/compression'
import { routeTable } from '#src/ingress/routes'
import type { TablePorts } from '#src/ingress/routes'
import { NO_HEADERS } from '#src/http/reply'
import { CREDENTIALS } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'
import { opId } from '#test/support/submissions'
import { until } from '#test/support/until'

const entries = ({ channelId }: Rig, count: number): FeedEntry[] =>
  Array.from({ length: count }, (_, index) => ({
    channelId,
    seq: index + 1,
    opId: opId(`op-${index}`),
    model: 'thing',
    action: 'update',
    entityId: 'pump-1' as EntityId,
    acceptedAt: 1,
    payload: '{"attrs":{"n":1}}',
  }))

/** Posts the credentials; gives the answer with its bytes unread. */
function asked({ port }: Rig, path: string, acceptEncoding: string | undefined) {
  const headers = {
    'content-type': 'application/json',
    ...(acceptEncoding !== undefined && { 'accept-encoding': acceptEncoding }),
  }
  const answered = Promise.withResolvers<IncomingMessage>()
  request({ port, path, method: 'POST', headers }, answered.resolve)
    .on('error', answered.reject)
    .end(JSON.stringify(CREDENTIALS))
  return answered.promise
}

const PLAIN = (bytes: Buffer): Buffer => bytes
const DECODED: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
}

const CHOICES: readonly (readonly [sent: string | undefined, coding: string | undefined])[] = [
  ['gzip, deflate', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0, GZIP', 'gzip'],
  ['identity', undefined],
  ['gzip;q=0', undefined],
  [undefined, undefined],
]

for (const path of ['/channel/history', '/channel/export']) {
  test(`${path} comes as its caller takes it`, async (t) => {
    const rig = await startIngress(t)
    rig.reads.entries = entries(rig, 90)
    for (const [sent, coding] of CHOICES) {
      const answer = await asked(rig, path, sent)
      const bytes = await buffer(answer)
      t.is(answer.headers['content-encoding'], coding, sent)
      t.is(answer.headers['vary'], 'accept-encoding')
      const text = (DECODED[coding ?? ''] ?? PLAIN)(bytes).toString()
      t.is(text.split('"seq":').length - 1, 90, sent)
      if (coding !== undefined) t.true(bytes.length * 4 < text.length, sent)
    }
  })
}

test('a short answer and a refusal are as they are', async (t) => {
  const rig = await startIngress(t)
  const short = await asked(rig, '/channel/history', 'gzip')
  t.deepEqual([short.statusCode, short.headers['content-encoding']], [200, undefined])
  const refused = await asked(rig, '/thing/get', 'gzip')
  t.deepEqual([refused.statusCode, refused.headers['content-encoding']], [400, undefined])
})

const reply = (length: number) => ({
  status: 200,
  contentType: 'text/plain',
  headers: NO_HEADERS,
  body: 'a'.repeat(length),
})
const TAKES_GZIP = { 'accept-encoding': 'gzip' }
const codingOf = ({ headers }: { readonly headers: readonly (readonly string[])[] }) =>
  headers.find(([name]) => name === 'content-encoding')?.[1]

test('an answer of 1,025 bytes is compressed, one of 1,024 is not', async (t) => {
  const compression = new Compression()
  t.is(codingOf(await compression.applied(reply(1024), TAKES_GZIP)), undefined)
  t.is(codingOf(await compression.applied(reply(1025), TAKES_GZIP)), 'gzip')
})

// compression/1
test('two answers are compressed at once, and a third leaves as it is', async (t) => {
  const compression = new Compression()
  const all = [1, 2, 3].map(() => compression.applied(reply(100_000), TAKES_GZIP))
  t.is(compression.running, 2)
  t.deepEqual((await Promise.all(all)).map(codingOf), ['gzip', 'gzip', undefined])
  t.is(compression.running, 0)
  t.is(codingOf(await compression.applied(reply(100_000), TAKES_GZIP)), 'gzip')
})

/** Returns pages of 90 entries, those behind the first once the function is called. */
function heldBehindFirst(rig: Rig): () => void {
  const all = entries(rig, 91)
  const { promise, resolve } = Promise.withResolvers<void>()
  rig.reads.history = async ({ afterSeq = 0 }) => {
    if (afterSeq === 0) return { items: all.slice(0, 90), headSeq: 91, next: 90 }
    await promise
    return { items: all.slice(90), headSeq: 91 }
  }
  return resolve
}

test('a page of a compressed export comes before the next one is read', async (t) => {
  const rig = await startIngress(t)
  const goOn = heldBehindFirst(rig)
  const answer = await asked(rig, '/channel/export', 'gzip')
  let text = ''
  const plain = answer.pipe(createGunzip()).setEncoding('utf8')
  plain.on('data', (part: string) => (text += part))
  await until('the first page is there', () => text.includes('"seq":90,'))
  t.false(text.includes('"seq":91,'))
  goOn()
  await until('the export is whole', () => text.includes('"complete":true'))
})

test('a reader who leaves a compressed export ends it', async (t) => {
  const rig = await startIngress(t)
  const goOn = heldBehindFirst(rig)
  const running = () => rig.meter.gauges.get('channel_exports')?.()
  const answer = await asked(rig, '/channel/export', 'br')
  await until('its first bytes are there', () => answer.readableLength > 0)
  t.is(running(), 1)
  answer.destroy()
  goOn()
  await until('none runs', () => running() === 0)
  t.pass()
})

const CREDENTIAL = /"(device_key|password|new_password|provider_token|token|secret)":/

// compression/2
test('no answer with a credential is compressed, and none of a submission', (t) => {
  const rows = routeTable({ acceptance: {}, probes: [] as const } as unknown as TablePorts)
  const pressed = rows.filter(({ isCompressible }) => isCompressible)
  t.true(pressed.length > 15)
  for (const { path, about } of pressed) {
    t.notRegex(JSON.stringify(about?.data ?? {}), CREDENTIAL, path)
  }
  const paths = pressed.map((row) => row.path)
  for (const path of ['/channel/key', '/device/register', '/thing/update', '/message']) {
    t.true(rows.some((row) => row.path === path) && !paths.includes(path), path)
  }
})
