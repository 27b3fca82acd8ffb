// Carriers in one thread, their sessions in another, over wires in memory.

import test from 'ava'

import { bridgedSessions, serveSessions } from '#src/threads/carrier-bridge'
import type { CarrierOrders, CarrierTopics } from '#src/threads/carrier-bridge'
import { Rpc } from '#src/threads/rpc'
import type { None } from '#src/threads/rpc'
import { memoryWire } from '#test/support/memory-wire'
import type { Carrier, SessionHandle } from '#src/transports/carrier'
import { HandTurnedRuntime } from '#test/support/hand-turned-runtime'

interface CarrierEnd {
  readonly services: None
  readonly topics: CarrierTopics
}
interface SessionEnd {
  readonly services: None
  readonly topics: CarrierOrders
}

/** A carrier with its session, and what either was told. */
async function bridged() {
  const runtime = new HandTurnedRuntime(1_000)
  const [carrierWire, sessionWire] = memoryWire(runtime)
  const told: string[] = []
  const sessions: Carrier[] = []
  serveSessions(new Rpc<SessionEnd, CarrierEnd>(sessionWire), (carrier) => {
    sessions.push(carrier)
    return {
      receive: (text) => told.push(`received ${text}`),
      broken: (rule) => told.push(`broken ${rule}`),
      drained: (bytes) => told.push(`drained to ${bytes}`),
      closed: () => told.push('closed'),
    }
  })
  const crossed: string[] = []
  const postMessage = (message: unknown): void => {
    crossed.push(JSON.stringify(message))
    carrierWire.postMessage(message)
  }
  const open = bridgedSessions(new Rpc<CarrierEnd, SessionEnd>({ ...carrierWire, postMessage }))
  const carrier: Carrier = {
    kind: 'quic',
    address: '192.0.2.1',
    authorization: '',
    openingMs: 0,
    send: (texts) => told.push(`sent ${texts.join(' ')}`),
    close: (code) => told.push(`close ${code}`),
    cut: () => told.push('cut'),
  }
  const device: SessionHandle = open(carrier)
  await runtime.settle()
  const [session] = sessions
  if (session === undefined) throw new Error('no session was opened')
  return { device, session, told, crossed, settle: () => runtime.settle() }
}

test('carriers/1: the end of a carrier is reported once, and its session sends nothing after it', async (t) => {
  const { device, session, told, crossed, settle } = await bridged()
  device.receive('hello')
  device.closed()
  device.closed()
  await settle()
  device.receive('too late')
  await settle()
  t.is(session.send(['too late']), 'closed')
  session.close(1_000, 'too late')
  session.cut()
  await settle()
  t.deepEqual(told, ['received hello', 'closed'])
  t.is(crossed.join(' ').split('"closed"').length - 1, 1)
})

test('carriers/2: a session counts the bytes that its carrier has not sent, also those on the wire', async (t) => {
  const { device, session, told, settle } = await bridged()
  t.is(session.send(['four', 'é']), 6)
  t.is(session.send(['four']), 10)
  await settle()
  device.drained(4)
  await settle()
  t.is(session.send(['two']), 7)
  t.deepEqual(told, ['sent four é', 'sent four', 'drained to 4'])
})
