import test from 'ava'

import { parseMessageId, parseOperationId } from '#domain/identity'
import type { Operation, OperationStatus } from '#domain/operation'
import { NOW_MS } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'

const RETENTION_MS = 60_000

function operation(rig: Rig, status: OperationStatus): Operation {
  const opId = parseOperationId('op:1')
  const entityId = parseMessageId('a'.repeat(32))
  if (opId === undefined || entityId === undefined) throw new Error('bad fixture')
  const times = { acceptedAt: NOW_MS, updatedAt: NOW_MS + 1 }
  return { opId, channelId: rig.channelId, model: 'message', entityId, status, ...times }
}

test('a node looks for an operation among its own first, so that senders find theirs at once', async (t) => {
  const rig = await startIngress(t, { statusRetentionMs: RETENTION_MS })
  const here = operation(rig, 'accepted')
  rig.operations.rows.set(here.opId, { ...here, status: 'sent' })
  rig.sink.operations.set(here.opId, here)
  t.deepEqual((await rig.get('/send_status/op%3A1')).json, {
    success: true,
    data: {
      op_id: 'op:1',
      status: 'accepted',
      model: 'message',
      entity_id: 'a'.repeat(32),
      accepted_at: NOW_MS,
      updated_at: NOW_MS + 1,
      expires_at: NOW_MS + RETENTION_MS,
    },
  })
  rig.sink.operations.clear()
  t.like((await rig.get('/send_status/op:1')).json, { data: { status: 'sent' } })
})

test('a repeat that is on its way takes no status back, and is found while the store is away', async (t) => {
  const rig = await startIngress(t)
  const again = operation(rig, 'accepted')
  rig.sink.operations.set(again.opId, { ...again, isRepeat: true })
  t.like((await rig.get('/send_status/op:1')).json, { data: { status: 'accepted' } })
  rig.operations.rows.set(again.opId, { ...again, status: 'sent' })
  t.like((await rig.get('/send_status/op:1')).json, { data: { status: 'sent' } })
  rig.operations.find = () => Promise.reject(new Error('away'))
  t.like((await rig.get('/send_status/op:1')).json, { data: { status: 'accepted' } })
})

test('an operation is found until its retention has passed', async (t) => {
  const rig = await startIngress(t, { statusRetentionMs: RETENTION_MS })
  const kept = operation(rig, 'sent')
  rig.operations.rows.set(kept.opId, kept)
  rig.time.advance(RETENTION_MS)
  t.is((await rig.get('/send_status/op:1')).status, 200)
  rig.time.advance(1)
  const gone = await rig.get('/send_status/op:1')
  t.is(gone.status, 404)
  t.is(gone.json['error_code'], 'send_status_not_found')
})

const forms: readonly (readonly [opId: string, status: number])[] = [
  ['unknown', 404],
  ['x'.repeat(128), 404],
  ['x'.repeat(129), 400],
  ['with%20space', 400],
]

for (const [opId, status] of forms) {
  test(`the status of ${opId.slice(0, 12)}(${opId.length}) is answered ${status}`, async (t) => {
    const { get } = await startIngress(t)
    t.is((await get(`/send_status/${opId}`)).status, status)
  })
}
