// Goal: a device that stops reading costs bounded memory, nobody else notices, and it converges.
// Method: one device stops reading its socket while 50,000 updates of 200 Things pass; another
// reads on. The memory of the process before and after; then the slow one reads again and equals
// the gateway.

import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'

import test from 'ava'

import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import { ThingsView } from '#src/client/view'
import { readGatewayFrame } from '#src/schemas/read-frames'
import { TEST_MS } from '#test/support/bounds'
import { createChannels, PASSWORD, watchingDevice } from '#test/support/device'
import { startGateway, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { drive, sender } from '#test/support/load'
import type { Submission } from '#test/support/load'
import { RawWebSocket } from '#test/support/raw-websocket'

const UPDATES = 50_000
const WARM_UP = 5_000
const THINGS = 200
const WIDTH = 64
/** Far below what 50,000 frames would take, far above the noise of a garbage collector. */
const GROWTH_MAX_MB = 100

function updates(channel_id: ChannelId, count: number, from: number): () => Submission | undefined {
  let sent = 0
  return () => {
    if (sent === count) return undefined
    sent += 1
    const attrs = { value: from + sent, note: 'a reading that takes a little room in each frame' }
    const thing = { thing_id: `sensor-${sent % THINGS}`, observed_at: 1_790_000_000, attrs }
    return { path: '/thing/update', body: { channel_id, password: PASSWORD, ...thing } }
  }
}

function memoryMb({ process: { pid } }: Gateway): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

/** A device on a bare socket, which acknowledges what it reads. */
async function bareDevice(gateway: Gateway, channel_id: ChannelId) {
  const client = createClient(gateway)
  const { device_key } = await client.device.register({ platform: 'linux' })
  await client.channel.subscribe({ device_key, channel_id, password: PASSWORD })
  const view = new ThingsView()
  let entries = 0
  const url = `${gateway.baseUrl.replace('http', 'ws')}/private/ws`
  const open = async (): Promise<Socket> => {
    const device = await RawWebSocket.open(url, (text) => {
      const frame = readGatewayFrame(text)
      if (frame === undefined) return
      view.apply(frame)
      if (frame.kind === 'ping') device.send(JSON.stringify({ type: 'pong' }))
      if (frame.kind !== 'deliver') return
      entries += 1
      device.send(JSON.stringify({ type: 'ack', channel_id, seq: frame.seq }))
    })
    device.send(JSON.stringify({ type: 'hello', device_key, gateway_token: gateway.token }))
    return device.socket
  }
  return { open, view, received: () => entries }
}

test('a device that stops reading costs bounded memory and converges later', async (t) => {
  t.timeout(TEST_MS)
  const gateway = await startGateway(t)
  const [channelId] = await createChannels(gateway, 1)
  if (channelId === undefined) throw new Error('no channel')
  const other = await watchingDevice(t, gateway, [channelId])
  const slow = await bareDevice(gateway, channelId)
  const socket = await slow.open()
  const lost = Promise.withResolvers<void>()
  // The gateway may reset what it gives up; either way the connection closes.
  socket.on('error', () => undefined)
  socket.once('close', () => lost.resolve())
  t.teardown(() => socket.destroy())
  const submitting = sender(gateway.baseUrl, gateway.token, WIDTH)
  t.teardown(() => submitting.close())
  await drive(submitting, WIDTH, updates(channelId, WARM_UP, 0))
  await until(
    () => Promise.resolve(slow.received()),
    (count) => count > 0,
  )

  socket.pause()
  const before = memoryMb(gateway)
  const outcomes = await drive(submitting, WIDTH, updates(channelId, UPDATES, WARM_UP))
  const after = memoryMb(gateway)
  t.true(outcomes.every(({ told }) => told.kind === 'accepted'))
  t.log(`memory ${Math.round(before)} MB, then ${Math.round(after)} MB`)
  t.true(after - before < GROWTH_MAX_MB)

  const head = WARM_UP + UPDATES
  const reaches = (view: ThingsView): Promise<number> =>
    until(
      () => Promise.resolve(view.cursors().get(channelId) ?? 0),
      (cursor) => cursor >= head,
    )
  await reaches(other.view)
  const readBefore = slow.received()
  socket.resume()
  // On a slow machine the gateway has given the silent device up; then it comes back as devices do.
  let isOver = false
  const back = lost.promise.then(() => (isOver ? undefined : slow.open()))
  t.teardown(async () => {
    isOver = true
    socket.destroy()
    const again = await back
    again?.destroy()
  })
  await reaches(slow.view)
  const known = (view: ThingsView): object =>
    Object.fromEntries(
      [...view.things(channelId)].map(([id, { attrs, rev }]) => [id, [attrs, rev]]),
    )
  t.deepEqual(known(slow.view), known(other.view), 'both devices know the same')
  t.is(slow.view.things(channelId).size, THINGS)
  t.true(
    slow.received() - readBefore < UPDATES / 10,
    'each changed Thing came once, not each update',
  )
})
