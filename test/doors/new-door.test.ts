// Goal: a new door is a listener, its requests and a protocol. The one here takes lines; neither
// acceptance nor HTTP knows of it.

import { createInterface } from 'node:readline'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { Door } from '#src/doors/door'
import { isFault } from '#domain/fault'
import { ConnectionLimits } from '#src/doors/connection-limits'
import { DoorRequests } from '#src/doors/door-requests'
import { createSocketListener } from '#src/doors/sockets'
import { acceptanceRig } from '#test/support/acceptance-rig'
import type { AcceptanceRig, AcceptanceRigOptions } from '#test/support/acceptance-rig'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { realRuntime } from '#test/support/real-runtime'
import { Lines } from '#test/support/lines'
import { turn, until } from '#test/support/until'

/** A line is `channel/password/title`; the answer is `sent` with the id, or `no` with the code. */
function lineDoor(rig: AcceptanceRig): Door {
  const { acceptance, meter, logger, time } = rig
  const { callerCheck, submissions } = acceptance
  const ports = { callerCheck, meter, logger, nowMs: time.nowMs, isOpen: () => true }
  const requests = new DoorRequests('lines', ports)
  const guard = { token: 'required', budget: 'passwords' } as const
  const address = { host: '127.0.0.1', port: 0, setting: 'SERVICE_LINES_ADDR' }
  const plain = { certificate: undefined, isTrustedProxy: () => false, openWithinMs: 1_000 }
  const listener = createSocketListener(
    { name: 'lines', alpn: 'lines', ...address, ...plain },
    {
      limits: new ConnectionLimits('lines', { total: 2, perAddress: 2 }, meter),
      runtime: { ...realRuntime, after: time.after },
      farewell: (refusal) => `no ${refusal}\n`,
      serve: (socket, peer) =>
        createInterface({ input: socket }).on('line', (line) => {
          const [channel_id, password, title] = line.split('/')
          const answer = requests.answer({ guard, peer, authorization: '' }, (caller) =>
            submissions.submit(SEND, { channel_id, password, title }, caller),
          )
          void Promise.resolve(answer).then((sent) =>
            socket.write(isFault(sent) ? `no ${sent.code}\n` : `sent ${sent.entityId}\n`),
          )
        }),
    },
  )
  return { ...listener, drain: () => requests.drain() }
}

const SEND = { model: 'message', action: 'send' } as const
const LINE = `${CHANNEL}/${PASSWORD}/T`

async function openDoor(t: ExecutionContext, options: AcceptanceRigOptions = {}) {
  const rig = await acceptanceRig(options)
  const door = lineDoor(rig)
  const port = await door.listen()
  t.teardown(() => door.close())
  return { rig, door, enter: () => Lines.to(t, port) }
}

test('a door of its own submits, and gets everything that acceptance does', async (t) => {
  const { rig, enter } = await openDoor(t, { passwordBudget: { perAddress: 3, total: 100 } })
  const caller = await enter()
  const sent = await caller.ask(LINE)
  t.is(sent, `sent ${rig.sink.accepted[0]?.entityId}`)
  t.like(rig.sink.accepted[0], { model: 'message', fields: { title: 'T' } })
  t.is(await caller.ask(`${CHANNEL}/another one/T`), 'no channel_not_found')
  t.is(await caller.ask(`${CHANNEL}/${PASSWORD}`), 'no title_required')
  t.is(await caller.ask(LINE), 'no rate_limited')
  t.is(rig.meter.total('refused_total{rate_limited}'), 1)
  t.false(JSON.stringify(rig.logger.lines).includes(PASSWORD))
})

test('slots/1: a door refuses connections beyond its slots, and takes them when one is free', async (t) => {
  const { rig, enter } = await openDoor(t)
  const [first] = [await enter(), await enter()]
  const third = await enter()
  t.is(await third.next(), 'no server_busy')
  await third.ended
  first.leave()
  await until('a slot is free', () => rig.meter.gauges.get('device_connections{lines}')?.() === 1)
  t.regex(await (await enter()).ask(LINE), /^sent /)
})

test('door-requests/1, door-requests/3: a drain answers what is under way, and refuses what is new', async (t) => {
  const { rig, door, enter } = await openDoor(t)
  const [slow, late] = [await enter(), await enter()]
  const { promise, resolve } = Promise.withResolvers<void>()
  rig.channels.meanwhile = () => promise
  const answer = slow.ask(LINE)
  await until('it is under way', () => rig.channels.reads > 0)
  let isDrained = false
  const drained = door.drain().then(() => (isDrained = true))
  const refused = late.ask(LINE)
  await turn()
  t.false(isDrained)
  resolve()
  t.regex(await answer, /^sent /)
  t.is(await refused, 'no server_busy')
  t.true(await drained)
})

test('door-requests/2: a handler that rejects is answered, and its reason is for the operator', async (t) => {
  const { rig, enter } = await openDoor(t)
  rig.sink.accept = () => Promise.reject(new Error('the reason'))
  t.is(await (await enter()).ask(LINE), 'no internal_error')
  t.like(rig.logger.lines.at(-1), { fields: { door: 'lines' } })
})
