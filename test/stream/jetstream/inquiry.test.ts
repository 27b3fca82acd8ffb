import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { Subscription } from '@nats-io/transport-node'

import type { Operation } from '#domain/operation'
import type { NatsLink } from '#src/stream/jetstream/connection'
import { StatusInquiry, readOperation } from '#src/stream/jetstream/inquiry'
import { FakeTime } from '#test/support/fake-timers'
import { connectNode, only, testsWithNats } from '#test/support/nats'
import { realRuntime } from '#test/support/real-runtime'
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

testWithNats(
  'inquiry/1: a process asks every other one, and gets the operation from the one that has it',
  async (t, servers) => {
    const { url } = only(servers)
    const nodes = [await connectNode(t, url), await connectNode(t, url), await connectNode(t, url)]
    const [asker, knower, other] = nodes.map((node) => inquiry(t, node, 'knows'))
    const asked: string[] = []
    other?.answer((id) => void asked.push(id))
    knower?.answer((id) => (id === operation.opId ? operation : undefined))
    asker?.answer(() => t.fail('a process does not ask itself'))
    for (const { connection } of nodes) await connection.nats.flush()
    t.deepEqual(await asker?.ask(operation.opId), operation)
    t.is(await asker?.ask(opId('op-2')), undefined)
    t.deepEqual(asked.toSorted(), ['op-1', 'op-2'])
  },
)

testWithNats('inquiry/1: a question ends when no other process exists', async (t, servers) => {
  const node = await connectNode(t, only(servers).url)
  t.is(await inquiry(t, node, 'alone').ask(operation.opId), undefined)
})

testWithNats(
  'inquiry/2: an inquiry does not send the 1,001st open question',
  async (t, servers) => {
    const { url } = only(servers)
    const [one, two] = [await connectNode(t, url), await connectNode(t, url)]
    const [asker, knower] = [inquiry(t, one, 'many'), inquiry(t, two, 'many')]
    let count = 0
    knower.answer(() => {
      count += 1
      return undefined
    })
    await two.connection.nats.flush()
    const questions = Array.from({ length: 1_000 }, (_, at) => asker.ask(opId(`op-${at}`)))
    t.is(await asker.ask(opId('one-too-many')), 'unasked')
    await Promise.all(questions)
    // On a busy machine questions end before they have arrived.
    for (const { connection } of [one, two]) await connection.nats.flush()
    t.is(count, 1_000)
  },
)

testWithNats('an inquiry that closes ends its questions at once', async (t, servers) => {
  const { url } = only(servers)
  const [one, two] = [await connectNode(t, url), await connectNode(t, url)]
  const asker = inquiry(t, one, 'closed')
  inquiry(t, two, 'closed').answer(() => undefined)
  await two.connection.nats.flush()
  const question = asker.ask(operation.opId)
  asker.close()
  t.is(await question, 'unasked')
})

testWithNats(
  'inquiry/3: a process that does not answer may know the operation until it counts as gone',
  async (t, servers) => {
    const { url } = only(servers)
    const nodes = [await connectNode(t, url), await connectNode(t, url), await connectNode(t, url)]
    const [one, two, three] = nodes
    if (one === undefined || two === undefined || three === undefined) return t.fail()
    const time = new FakeTime(0)
    const join = (node: typeof one) => inquiry(t, { ...node, ...clocksOf(time) }, 'silent')
    const [asker, leaving, killed] = [join(one), join(two), join(three)]
    for (const other of [leaving, killed]) other.answer(() => undefined)
    for (const { connection } of nodes) await connection.nats.flush()
    const ask = async () => {
      const question = asker.ask(operation.opId)
      for (const { nats } of nodes.map(({ connection }) => connection)) {
        if (!nats.isClosed()) await nats.flush()
      }
      await one.connection.nats.flush()
      time.advance(300)
      return question
    }
    t.is(await ask(), undefined, 'both answered that they do not know it')
    await three.connection.nats.close()
    t.is(await ask(), 'unasked')
    time.advance(9_099)
    t.is(await ask(), 'unasked', 'they heard from it 9,999 ms ago')
    time.advance(1)
    t.is(await ask(), undefined)
    leaving.close()
    await two.connection.nats.flush()
    t.is(await ask(), undefined, 'the server answers that nobody has subscribed')
  },
)

testWithNats(
  'inquiry/4: a process that has not asked yet knows the others, and they know a newcomer',
  async (t, servers) => {
    const { url } = only(servers)
    const nodes = [await connectNode(t, url), await connectNode(t, url)]
    const [one, two] = nodes
    if (one === undefined || two === undefined) return t.fail()
    const flush = async () => {
      for (const round of [nodes, nodes.toReversed(), nodes]) {
        for (const { connection } of round) await connection.nats.flush()
      }
    }
    const [first, second] = [inquiry(t, one, 'new'), inquiry(t, two, 'new')]
    first.answer(() => undefined)
    await flush()
    second.answer(() => undefined)
    await flush()
    two.connection.nats.publish('new.status.joined', 'cut off')
    await flush()
    t.is(await first.ask(operation.opId), 'unasked', 'the one that was there before')
    const newcomer = await connectNode(t, url)
    const third = inquiry(t, newcomer, 'new')
    third.answer(() => undefined)
    await newcomer.connection.nats.flush()
    await flush()
    await newcomer.connection.nats.flush()
    for (const { connection } of nodes) await connection.nats.close()
    await newcomer.connection.nats.flush()
    t.is(await third.ask(operation.opId), 'unasked', 'the one that came later')
  },
)

testWithNats(
  'inquiry/5: a process that another one names may know the operation, until it counts as gone',
  async (t, servers) => {
    const { url } = only(servers)
    const nodes = [await connectNode(t, url), await connectNode(t, url)]
    const [one, two] = nodes
    if (one === undefined || two === undefined) return t.fail()
    const flush = async () => {
      for (const { connection } of [...nodes, ...nodes]) await connection.nats.flush()
    }
    const time = new FakeTime(0)
    const other = inquiry(t, { ...one, ...clocksOf(time) }, 'named')
    other.answer(() => undefined)
    await flush()
    two.connection.nats.publish('named.status.joined', 'cut off')
    await flush()
    const newcomer = inquiry(t, two, 'named')
    newcomer.answer(() => undefined)
    await flush()
    t.is(await newcomer.ask(operation.opId), 'unasked')
    time.advance(9_999)
    await flush()
    t.is(await newcomer.ask(operation.opId), 'unasked')
    time.advance(1)
    t.is(await newcomer.ask(operation.opId), undefined)
  },
)

testWithNats(
  'inquiry/3: the only other process counts as unasked while the server does not have it',
  async (t, servers) => {
    const { url } = only(servers)
    const [one, two] = [await connectNode(t, url), await connectNode(t, url)]
    const [asker, other] = [inquiry(t, one, 'cut'), inquiry(t, two, 'cut')]
    for (const each of [asker, other]) each.answer(() => undefined)
    await two.connection.nats.flush()
    t.is(await asker.ask(operation.opId), undefined)
    await two.connection.nats.close()
    await one.connection.nats.flush()
    t.is(await asker.ask(operation.opId), 'unasked')
  },
)

testWithNats(
  'inquiry/3: a process is known from its first answer on, also when it had the operation',
  async (t, servers) => {
    const { url } = only(servers)
    const [one, two] = [await connectNode(t, url), await connectNode(t, url)]
    const [asker, other] = [inquiry(t, one, 'told'), inquiry(t, two, 'told')]
    other.answer(() => operation)
    await two.connection.nats.flush()
    t.deepEqual(await asker.ask(operation.opId), operation)
    await two.connection.nats.close()
    await one.connection.nats.flush()
    t.is(await asker.ask(operation.opId), 'unasked')
  },
)

/** Returns an inquiry that closes with the test. */
function inquiry(t: ExecutionContext, ...made: ConstructorParameters<typeof StatusInquiry>) {
  const opened = new StatusInquiry(...made)
  t.teardown(() => opened.close())
  return opened
}

test('inquiry/3: a question without any answer counts as unasked', async (t) => {
  const time = new FakeTime(0)
  const nats = { publish: () => {}, subscribe: () => ({ unsubscribe: () => {} }) as Subscription }
  const connection: NatsLink = { nats, isConnected: true, onReconnect: () => () => {} }
  const question = inquiry(t, { connection, ...clocksOf(time) }).ask(operation.opId)
  time.advance(300)
  t.is(await question, 'unasked')
})

test('inquiry/4: a process introduces itself again, since that may get lost, until it closes', (t) => {
  const time = new FakeTime(0)
  const published: string[] = []
  const nats = {
    publish: (subject: string) => void published.push(subject),
    subscribe: () => ({ unsubscribe: () => {} }) as Subscription,
  }
  const connection: NatsLink = { nats, isConnected: true, onReconnect: () => () => {} }
  const again = inquiry(t, { connection, ...clocksOf(time) }, 'again')
  again.answer(() => undefined)
  time.advance(10_000)
  again.close()
  time.advance(10_000)
  t.deepEqual(published, [...Array<string>(6).fill('again.status.joined'), 'again.status.left'])
})

const clocksOf = (time: FakeTime) => ({
  timers: time,
  monotonicMs: time.monotonicMs,
  entropy: realRuntime.entropy,
})

test('a process reads the operation that another one sent, or refuses it whole', (t) => {
  t.deepEqual(readOperation(operation), operation)
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
  for (const value of bad) t.is(readOperation(value), undefined)
})
