// Clients of MQTT 3.1.1 as a process of its own. They publish updates of the standard size at QoS 1
// with so many under way each, the next one for each acknowledgement or at a rate, or do nothing.

import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

import type { MqttOrder, MqttReport } from './messages.ts'
import { BODY_BYTES } from './payload.ts'

/** Bytes of a CONNACK and of a PUBACK. */
const ANSWER_BYTES = 4
/** CONNECTs at once. */
const AT_ONCE = 32
const PACKET_ID_MAX = 0xffff
/** At a rate, what is due is sent so often. */
const PACE_MS = 5
const KEEP_ALIVE_SECONDS = 0xffff
const OBSERVED_DIGITS = 13

/** A PUBLISH of a Thing: packet id and time of observation are written into it. */
interface Publish {
  readonly bytes: Buffer
  readonly idOffset: number
  readonly observedOffset: number
}

interface Client {
  readonly socket: Socket
  /** One for each of its Things, sent in turn. */
  readonly publishes: readonly Publish[]
  next: number
  lastId: number
  underWay: number
  /** Bytes of an answer that has not come whole. */
  rest: number
}

const clients: Client[] = []
/** Each acknowledgement is followed by the next publish. */
let isFollowing = false
let acknowledged = 0

const textOf = (text: string): Buffer => {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes])
}

/** A packet with its length in front. */
function packetOf(type: number, body: Buffer): Buffer {
  const length: number[] = []
  for (let left = body.length; left > 0 || length.length === 0; left >>= 7) {
    length.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0))
  }
  return Buffer.concat([Buffer.from([type, ...length]), body])
}

function connectOf(name: string, userName: string): Buffer {
  const head = [4, 0x82, KEEP_ALIVE_SECONDS >> 8, KEEP_ALIVE_SECONDS & 0xff]
  const body = [textOf('MQTT'), Buffer.from(head), textOf(name), textOf(userName)]
  return packetOf(0x10, Buffer.concat(body))
}

function publishOf(thing: number): Publish {
  const topic = textOf(`things/sensor-${String(thing).padStart(6, '0')}`)
  const attrs = { temperature: 20 + (thing % 90) / 10, humidity: 40 + (thing % 50), online: true }
  const fields = { observed_at: 10 ** (OBSERVED_DIGITS - 1), title: `Sensor ${thing % 100}`, attrs }
  const bare = JSON.stringify({ ...fields, attrs: { ...attrs, note: '' } })
  const note = 'x'.repeat(BODY_BYTES - bare.length)
  const payload = Buffer.from(JSON.stringify({ ...fields, attrs: { ...attrs, note } }))
  const bytes = packetOf(0x32, Buffer.concat([topic, Buffer.alloc(2), payload]))
  const payloadAt = bytes.length - payload.length
  return {
    bytes,
    idOffset: payloadAt - 2,
    observedOffset: payloadAt + '{"observed_at":'.length,
  }
}

function send(client: Client, count: number): void {
  const packets: Buffer[] = []
  for (let sent = 0; sent < count; sent += 1) {
    const due = client.publishes[client.next]
    if (due === undefined) throw new Error('the client has no Things')
    client.next = (client.next + 1) % client.publishes.length
    client.lastId = (client.lastId % PACKET_ID_MAX) + 1
    const { bytes, idOffset, observedOffset } = due
    bytes.writeUInt16BE(client.lastId, idOffset)
    bytes.write(String(Date.now()), observedOffset, OBSERVED_DIGITS, 'latin1')
    packets.push(Buffer.from(bytes))
  }
  client.underWay += count
  client.socket.write(packets.length === 1 ? (packets[0] ?? '') : Buffer.concat(packets))
}

function answered(client: Client, bytes: Buffer): void {
  const answers = Math.floor((client.rest + bytes.length) / ANSWER_BYTES)
  client.rest = (client.rest + bytes.length) % ANSWER_BYTES
  client.underWay -= answers
  acknowledged += answers
  if (isFollowing && answers > 0) send(client, answers)
}

async function open(order: Opening, userName: string, index: number): Promise<void> {
  const { port, userNames, things } = order
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => process.exit(1))
  await once(socket, 'connect')
  socket.write(connectOf(`bench-${index}`, userName))
  const [connack] = (await once(socket, 'data')) as [Buffer]
  if (connack[3] !== 0) throw new Error(`CONNACK ${connack[3]}`)
  const publishes: Publish[] = []
  for (let thing = index; thing < things; thing += userNames.length) {
    publishes.push(publishOf(thing))
  }
  const client = { socket, publishes, next: 0, lastId: 0, underWay: 0, rest: 0 }
  clients.push(client)
  socket.on('data', (bytes: Buffer) => answered(client, bytes))
  socket.on('close', () => process.exit(1))
}

type Opening = Extract<MqttOrder, { readonly kind: 'connect' }>

async function openAll(order: Opening): Promise<void> {
  const left = order.userNames.entries()
  const worker = async (): Promise<void> => {
    for (const [index, userName] of left) await open(order, userName, index)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** Publishes for so long, then waits until everything is acknowledged. */
async function publish(order: Extract<MqttOrder, { kind: 'publish' }>): Promise<MqttReport> {
  const { durationMs, underWay, ratePerSecond } = order
  acknowledged = 0
  isFollowing = ratePerSecond === undefined
  const startMs = performance.now()
  if (isFollowing) for (const client of clients) send(client, underWay)
  const pacing = isFollowing ? undefined : setInterval(sendDue, PACE_MS, startMs, order)
  await new Promise((resolve) => setTimeout(resolve, durationMs))
  clearInterval(pacing)
  const elapsedMs = performance.now() - startMs
  const { acknowledged: inTime } = { acknowledged }
  isFollowing = false
  while (clients.some((client) => client.underWay > 0)) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return { perSecond: (inTime / elapsedMs) * 1_000, acknowledged }
}

/** Sends what is due by now, as far as clients may have more under way. */
function sendDue(startMs: number, { underWay, ratePerSecond = 0 }: Pace): void {
  const due = Math.floor(((performance.now() - startMs) * ratePerSecond) / 1_000)
  const sent = acknowledged + clients.reduce((sum, client) => sum + client.underWay, 0)
  const each = Math.ceil((due - sent) / clients.length)
  let left = due - sent
  for (const client of clients) {
    const count = Math.min(each, left, underWay - client.underWay)
    if (count > 0) send(client, count)
    left -= Math.max(0, count)
  }
}

type Pace = Pick<Extract<MqttOrder, { kind: 'publish' }>, 'underWay' | 'ratePerSecond'>

process.on('message', (order: MqttOrder) => {
  const done = order.kind === 'connect' ? openAll(order) : publish(order)
  void done.then((report) => process.send?.(report ?? {}))
})
// The bench is gone.
process.on('disconnect', () => process.exit())
