// Goal: a whole server takes what the three imitated tools send and carries it to its devices and to
// the topic tool's own subscribers; keys, passwords and a restart mean the same in every style.

import test from 'ava'

import { createClient } from '#src/client/client'
import { PASSWORD, createChannels, watchingDevice } from '#test/support/device'
import { freePort } from '#test/support/free-port'
import { startGateway, temporaryFolder, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { OPEN, standingOpenGateway } from '#test/support/standing'

const soon = (isSo: () => boolean): Promise<boolean> =>
  until(
    () => Promise.resolve(isSo()),
    (value) => value,
  )

type Json = Readonly<Record<string, unknown>>

async function send(url: string, init: RequestInit = {}): Promise<{ status: number; json: Json }> {
  const answer = await fetch(url, init)
  return { status: answer.status, json: (await answer.json()) as Json }
}

const jsonBody = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** A request of each style with a key; the Message that arrives has this title. */
const SENDS: Readonly<Record<string, (base: string, key: string) => ReturnType<typeof send>>> = {
  topic: (base, key) =>
    send(`${base}/compat-topic/${key}`, {
      method: 'PUT',
      headers: { title: 'topic', priority: '4' },
      body: 'M',
    }),
  'send-key': (base, key) =>
    send(`${base}/compat-sendkey/${key}.send`, {
      method: 'POST',
      body: new URLSearchParams({ title: 'send-key', desp: 'M' }),
    }),
  'device-key v1': (base, key) =>
    send(`${base}/compat-devicekey/${key}/device-key%20v1/M?level=timeSensitive`),
  'device-key v2': (base, key) =>
    send(
      `${base}/compat-devicekey/push`,
      jsonBody({ device_key: decodeURIComponent(key), title: 'device-key v2', body: 'M' }),
    ),
}

const STYLES = Object.keys(SENDS)

/** The frames that a WebSocket of the topic style got. */
function subscribe(url: string): { readonly titles: unknown[]; close: () => void } {
  const titles: unknown[] = []
  const socket = new WebSocket(url.replace('http:', 'ws:'))
  socket.addEventListener('message', ({ data }) => {
    const told = JSON.parse(String(data)) as Json
    titles.push(told['event'] === 'message' ? told['title'] : told['event'])
  })
  return { titles, close: () => socket.close() }
}

async function aliasOf(gateway: Gateway, channel_id: string): Promise<string> {
  const made = await send(
    `${gateway.baseUrl}/channel/key`,
    jsonBody({ channel_id, password: PASSWORD }),
  )
  return String((made.json['data'] as Json)['key'])
}

test('every style reaches devices and subscribers, by key and by alias, also after a kill', async (t) => {
  const directory = await temporaryFolder(t)
  const port = await freePort(t)
  const env = {
    ...OPEN,
    SERVICE_COMPAT_ROOT: 'topic',
    SERVICE_COMPAT_ADDR: `127.0.0.1:${port}`,
    SERVICE_COMPAT_HOST: 'localhost',
  }
  const gateway = await startGateway(t, { directory, env })
  const { baseUrl } = gateway
  const [channelId] = await createChannels(gateway, 1)
  if (channelId === undefined) return
  const device = await watchingDevice(t, gateway, [channelId])
  const key = `${channelId}:${encodeURIComponent(PASSWORD)}`
  const alias = await aliasOf(gateway, channelId)
  const byPath = subscribe(`${baseUrl}/compat-topic/${key}/ws`)
  const byRoot = subscribe(`http://127.0.0.1:${port}/${alias}/ws`)
  const byName = subscribe(`${baseUrl.replace('127.0.0.1', 'localhost')}/${alias}/ws`)
  const subscribers = [byPath, byRoot, byName]
  t.teardown(() => subscribers.forEach((subscriber) => subscriber.close()))
  await soon(() => subscribers.every(({ titles }) => titles.length === 1))

  for (const opener of [key, alias]) {
    for (const [style, sendTo] of Object.entries(SENDS)) {
      t.is((await sendTo(baseUrl, opener)).status, 200, style)
    }
  }
  const expected = [...STYLES, ...STYLES]
  await soon(() => device.seen.get(channelId)?.length === 8)
  t.deepEqual(
    device.seen.get(channelId)?.map(({ payload }) => payload['title']),
    expected,
  )
  for (const { titles } of subscribers) {
    await soon(() => titles.length === 9)
    t.deepEqual(titles, ['open', ...expected])
  }

  // A 200 means kept: the process dies without a word, and a poll finds everything afterwards.
  await gateway.end('SIGKILL')
  const again = await startGateway(t, { directory, env })
  const poll = await fetch(`${again.baseUrl}/compat-topic/${alias}/json?poll=1`)
  const lines = (await poll.text()).trim().split('\n')
  t.deepEqual(
    lines.map((line) => (JSON.parse(line) as Json)['title']),
    expected,
  )
  const sent = await SENDS['send-key']?.(again.baseUrl, alias)
  const data = sent?.json['data'] as { readonly pushid: string } | undefined
  const pushid = data?.pushid ?? ''
  await until(
    () => send(`${again.baseUrl}/compat-sendkey/push?id=${pushid}`),
    ({ json }) => (json['data'] as Json)['wxstatus'] !== '',
  )
})

test('another password closes every style to the old key, and to its aliases', async (t) => {
  const gateway = await standingOpenGateway()
  const { baseUrl } = gateway
  const [channel_id = ''] = await createChannels(gateway, 1)
  const alias = await aliasOf(gateway, channel_id)
  const subscriber = subscribe(`${baseUrl}/compat-topic/${alias}/ws`)
  t.teardown(() => subscriber.close())
  await soon(() => subscriber.titles.length === 1)
  await createClient(gateway).channel.changePassword({
    channel_id,
    password: PASSWORD,
    new_password: 'another password',
  })
  const old = `${channel_id}:${encodeURIComponent(PASSWORD)}`
  for (const opener of [old, alias]) {
    for (const [style, sendTo] of Object.entries(SENDS)) {
      t.is((await sendTo(baseUrl, opener)).status, 404, `${style} ${opener}`)
    }
  }
  const fresh = `${channel_id}:another%20password`
  for (const [style, sendTo] of Object.entries(SENDS)) {
    t.is((await sendTo(baseUrl, fresh)).status, 200, style)
  }
  const lines = JSON.stringify(gateway.lines)
  for (const secret of [PASSWORD, 'another password', 'another%20password', alias]) {
    t.false(lines.includes(secret))
  }
})
