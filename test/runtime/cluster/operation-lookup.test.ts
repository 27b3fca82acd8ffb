import test from 'ava'

import { operationIdFrom } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { Claim, Operation } from '#domain/operation'
import { STORE_BUSY } from '#domain/store-ports'
import { operationsOfAllNodes } from '#src/runtime/cluster/operation-lookup'
import { FakeOperations } from '#test/support/fake-reads'
import { message, opId, thing } from '#test/support/submissions'

/** A database and another node, which knows what is put into `elsewhere`. */
function setUp() {
  const operations = new FakeOperations()
  const elsewhere = new Map<OperationId, Operation | 'unasked'>()
  const asked: OperationId[] = []
  const ask = (id: OperationId): Promise<Operation | 'unasked' | undefined> => {
    asked.push(id)
    return Promise.resolve(elsewhere.get(id))
  }
  return { operations, elsewhere, asked, everywhere: operationsOfAllNodes(operations, { ask }) }
}

const MADE = operationIdFrom(1_000, 'a'.repeat(32))

function claimOf(id: OperationId): Claim {
  const { channelId, entityId } = message()
  const contentHash = 'a'.repeat(64)
  return { opId: id, channelId, thingId: '', contentHash, messageId: entityId, claimedAt: 1 }
}

function acceptedOf(id: OperationId): Operation {
  const { channelId, model, entityId } = thing('update', 'pump')
  const times = { acceptedAt: 1, updatedAt: 1 }
  return { opId: id, channelId, model, entityId, status: 'accepted', ...times }
}

test("a claim of the op_id of another node's unapplied submission conflicts", async (t) => {
  const { everywhere, operations, elsewhere } = setUp()
  elsewhere.set(MADE, acceptedOf(MADE))
  t.deepEqual(await everywhere.claim(claimOf(MADE), 0), {
    kind: 'conflict',
    code: 'op_id_scope_conflict',
  })
  t.is(operations.claims.size, 0)
})

test("a claim of an unused op_id of the gateway's form succeeds", async (t) => {
  const { everywhere, asked } = setUp()
  t.deepEqual(await everywhere.claim(claimOf(MADE), 0), { kind: 'fresh' })
  t.deepEqual(asked, [MADE])
})

test('a claim of any other op_id asks no other node', async (t) => {
  const { everywhere, asked } = setUp()
  t.deepEqual(await everywhere.claim(claimOf(opId('order-1')), 0), { kind: 'fresh' })
  t.deepEqual(await everywhere.claim(claimOf(opId(`${MADE}0`)), 0), { kind: 'fresh' })
  t.deepEqual(asked, [])
})

test('find gets an operation from the node that accepted it, and later from the database', async (t) => {
  const { everywhere, operations, elsewhere } = setUp()
  t.is(await everywhere.find(MADE), undefined)
  elsewhere.set(MADE, acceptedOf(MADE))
  t.like(await everywhere.find(MADE), { status: 'accepted' })
  operations.rows.set(MADE, { ...acceptedOf(MADE), status: 'sent' })
  t.like(await everywhere.find(MADE), { status: 'sent' })
})

test('lookup/1: find rejects when the others cannot be asked', async (t) => {
  const { everywhere, operations, elsewhere } = setUp()
  elsewhere.set(MADE, 'unasked')
  await t.throwsAsync(everywhere.find(MADE), { name: STORE_BUSY })
  operations.rows.set(MADE, { ...acceptedOf(MADE), status: 'sent' })
  t.like(await everywhere.find(MADE), { status: 'sent' })
})

test('lookup/1: claim rejects when the others cannot be asked', async (t) => {
  const { everywhere, operations, elsewhere } = setUp()
  elsewhere.set(MADE, 'unasked')
  await t.throwsAsync(everywhere.claim(claimOf(MADE), 0), { name: STORE_BUSY })
  t.is(operations.claims.size, 0)
})
