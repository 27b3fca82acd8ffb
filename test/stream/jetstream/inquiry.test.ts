import test from 'ava'

import type { Operation } from '#domain/operation'
import { StatusInquiry, readOperation } from '#src/stream/jetstream/inquiry'
import { connectNode, only, testsWithNats } from '#test/support/nats'
import { channel, message, opId } from '#test/support/submissions'

const testWithNats = testsWithNats()

const operation: Operation = {
  opId: opId('op-1'),
  channelId: channel(1),
  model: 'message',
  entityId: message().entityId,
  status: 'accepted',
  acceptedAt: 1,
  updatedAt: 1,
}

testWithNats('Q1: who knows the operation answers, the others are silent', async (t, servers) => {
  const { url } = only(servers)
  const nodes = [await connectNode(t, url), await connectNode(t, url), await connectNode(t, url)]
  const [asker, knower, stranger] = nodes.map((node) => new StatusInquiry(node, 'knows'))
  const asked: string[] = []
  stranger?.answer((id) => void asked.push(id))
  knower?.answer((id) => (id === operation.opId ? operation : undefined))
  asker?.answer(() => t.fail('nobody asks oneself'))
  for (const { connection } of nodes) await connection.nats.flush()
  t.deepEqual(await asker?.ask(operation.opId), operation)
  t.is(await asker?.ask(opId('op-2')), undefined)
  t.deepEqual(asked.toSorted(), ['op-1', 'op-2'])
})

testWithNats('Q1: without anybody to answer a question ends by itself', async (t, servers) => {
  const node = await connectNode(t, only(servers).url)
  t.is(await new StatusInquiry(node, 'alone').ask(operation.opId), undefined)
})

testWithNats('Q2: the 1,001st question under way goes unasked', async (t, servers) => {
  const { url } = only(servers)
  const [one, two] = [await connectNode(t, url), await connectNode(t, url)]
  const [asker, knower] = [new StatusInquiry(one, 'many'), new StatusInquiry(two, 'many')]
  let count = 0
  knower.answer(() => {
    count += 1
    return undefined
  })
  await two.connection.nats.flush()
  const questions = Array.from({ length: 1_000 }, (_, at) => asker.ask(opId(`op-${at}`)))
  t.is(await asker.ask(opId('one-too-many')), undefined)
  await Promise.all(questions)
  t.is(count, 1_000)
})

testWithNats('a closed inquiry ends its questions at once', async (t, servers) => {
  const { url } = only(servers)
  const [one, two] = [await connectNode(t, url), await connectNode(t, url)]
  const asker = new StatusInquiry(one, 'closed')
  new StatusInquiry(two, 'closed').answer(() => undefined)
  await two.connection.nats.flush()
  const question = asker.ask(operation.opId)
  asker.close()
  t.is(await question, undefined)
})

test('an operation of another process is read back, or refused whole', (t) => {
  t.deepEqual(readOperation(JSON.stringify(operation)), operation)
  const bad: readonly unknown[] = [
    'text',
    null,
    [],
    { ...operation, opId: '' },
    { ...operation, channelId: 'x' },
    { ...operation, model: 'other' },
    { ...operation, entityId: '' },
    { ...operation, acceptedAt: -1 },
    { ...operation, updatedAt: '1' },
  ]
  for (const value of bad) t.is(readOperation(JSON.stringify(value)), undefined)
  t.is(readOperation('{'), undefined)
})
