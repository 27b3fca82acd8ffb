import { MessageChannel } from 'node:worker_threads'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { Rpc, ThreadRpc } from '#src/threads/rpc'
import type { Services } from '#src/threads/rpc'
import { memoryWire } from '#test/support/memory-wire'
import type { PeerWire } from '#src/threads/wire'
import { realRuntime } from '#test/support/real-runtime'
import { until } from '#test/support/until'

interface Service {
  add(a: number, b: number): Promise<number>
  echo(value: unknown): Promise<unknown>
  fail(): Promise<never>
  never(): Promise<never>
}

/** The services of each end in these tests. */
interface End {
  readonly services: Services<{ service: Service }>
  readonly topics: { readonly topic: unknown }
}

/** The end of a thread's starter, which also hands over wires. */
interface HandingEnd {
  readonly services: End['services']
  readonly topics: End['topics'] & { readonly wire: PeerWire }
}

/** The services that an end of another version might expect: more than there are. */
interface WiderEnd {
  readonly services: Services<{
    service: Service & { other(): Promise<void>; calls(): Promise<void> }
    nobody: Service
  }>
  readonly topics: End['topics']
}

class Served implements Service {
  readonly #base = 100
  readonly calls: string[] = []

  add(a: number, b: number): Promise<number> {
    this.calls.push(`add ${a} ${b}`)
    return Promise.resolve(this.#base + a + b)
  }

  echo(value: unknown): Promise<unknown> {
    this.calls.push(`echo ${String(value)}`)
    return Promise.resolve(value)
  }

  fail(): Promise<never> {
    const secret = { token: 'a secret', cause: new Error('another secret') }
    return Promise.reject(Object.assign(new TypeError('it does not fit'), secret))
  }

  never(): Promise<never> {
    return new Promise(() => undefined)
  }
}

/** The service with some of its methods replaced. */
const servedWith = (methods: Partial<Service>): Service => Object.assign(new Served(), methods)

/** Two ends of one rpc over a real MessageChannel, and how many messages crossed from each. */
function linked(t: ExecutionContext) {
  const { port1, port2 } = new MessageChannel()
  const crossed: unknown[] = []
  const near = new Rpc<End, WiderEnd>({
    postMessage: (message) => {
      crossed.push(message)
      port1.postMessage(message)
    },
    on: (event, listener) => port1.on(event, listener),
  })
  const far = new Rpc<End, End>(port2)
  t.teardown(() => port1.close())
  return { near, far, crossed, port1 }
}

test('a call runs a method of the other end with its values, and gives its answer', async (t) => {
  const { near, far } = linked(t)
  far.serve({ service: new Served() })
  const remote = near.remote('service')
  t.is(await remote.add(1, 2), 103)
  t.deepEqual(await remote.echo({ list: [1, null], text: 'x' }), { list: [1, null], text: 'x' })
  t.is(await remote.echo(undefined), undefined)
})

test('both ends can serve and call at once', async (t) => {
  const { near, far } = linked(t)
  far.serve({ service: new Served() })
  near.serve({ service: servedWith({ echo: () => Promise.resolve('from near') }) })
  const [one, other] = await Promise.all([
    near.remote('service').echo('from far'),
    far.remote('service').echo(1),
  ])
  t.deepEqual([one, other], ['from far', 'from near'])
})

test('each call gets its own answer, whatever the order of the answers', async (t) => {
  const { near, far } = linked(t)
  const gates = new Map<number, () => void>()
  far.serve({
    service: servedWith({
      echo: (value) =>
        new Promise((resolve) =>
          gates.set(Number(value), () => resolve(`answer ${String(value)}`)),
        ),
    }),
  })
  const remote = near.remote('service')
  const answers = [1, 2, 3].map((value) => remote.echo(value))
  await until('all calls arrived', () => gates.size === 3)
  for (const value of [2, 3, 1]) gates.get(value)?.()
  t.deepEqual(await Promise.all(answers), ['answer 1', 'answer 2', 'answer 3'])
})

test('rpc/1: calls and one-way messages arrive in the order of sending', async (t) => {
  const { near, far } = linked(t)
  const served = new Served()
  far.serve({ service: served })
  far.onTell('topic', (value) => served.calls.push(`tell ${String(value)}`))
  const remote = near.remote('service')
  const expected: string[] = []
  for (let round = 0; round < 20; round += 1) {
    near.tell('topic', round)
    void remote.echo(round)
    expected.push(`tell ${round}`, `echo ${round}`)
    if (round % 7 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await remote.add(0, 0)
  t.deepEqual(served.calls.slice(0, -1), expected)
})

test('rpc/1: an end of a wire arrives after what was told before it, and works there', async (t) => {
  const [starter, thread] = memoryWire(realRuntime)
  const near = new ThreadRpc<HandingEnd, End>(starter)
  const far = new Rpc<End, HandingEnd>(thread)
  const [own, handed] = memoryWire(realRuntime)
  const heard: unknown[] = []
  far.onTell('topic', (value) => heard.push(value))
  far.onTell('wire', (end) => {
    heard.push('a wire')
    end.on('message', (value) => heard.push(value))
  })
  near.tell('topic', 'told before')
  near.hand('wire', handed)
  own.postMessage('over the wire')
  await until('both arrived', () => heard.length === 3)
  t.deepEqual(heard, ['told before', 'a wire', 'over the wire'])
})

test('rpc/2: calls of one pass cross in one message, and later ones in another', async (t) => {
  const { near, far, crossed } = linked(t)
  far.serve({ service: new Served() })
  const remote = near.remote('service')
  const calls = [remote.add(1, 1), remote.add(2, 2)]
  near.tell('topic', 1)
  t.is(crossed.length, 0)
  await Promise.all(calls)
  t.is(crossed.length, 1)
  await remote.add(3, 3)
  t.is(crossed.length, 2)
})

test('rpc/2: answers of one pass cross in one message', async (t) => {
  const { near, far, crossed } = linked(t)
  near.serve({ service: new Served() })
  const remote = far.remote('service')
  await Promise.all(Array.from({ length: 50 }, () => remote.add(1, 1)))
  t.true(crossed.length <= 2, `${crossed.length} messages for 50 answers`)
})

test('rpc/3: a broken rpc rejects waiting and later calls, with its reason', async (t) => {
  const { near, far } = linked(t)
  far.serve({ service: new Served() })
  const remote = near.remote('service')
  const waiting = [remote.never(), remote.never()]
  await remote.add(1, 1)
  const reason = new Error('the thread ended')
  near.break(reason)
  for (const call of waiting) t.is(await t.throwsAsync(call), reason)
  t.is(await t.throwsAsync(remote.add(1, 1)), reason)
})

test('rpc/3: an answer after the break has no effect', async (t) => {
  const { near, far } = linked(t)
  far.serve({ service: new Served() })
  const call = near.remote('service').add(1, 1)
  near.break(new Error('gone'))
  await t.throwsAsync(call, { message: 'gone' })
  const probe = new Promise((resolve) => near.onTell('topic', resolve))
  far.tell('topic', 'still here')
  t.is(await probe, 'still here')
})

test('rpc/3: a call of a missing service or method rejects', async (t) => {
  const { near, far } = linked(t)
  far.serve({ service: new Served() })
  await t.throwsAsync(near.remote('nobody').add(1, 1), { message: /nobody/ })
  const more = near.remote('service')
  await t.throwsAsync(more.other(), { message: /other/ })
  await t.throwsAsync(near.remote('service').calls(), {
    message: /calls/,
  })
})

test('only the name and the message of an error cross', async (t) => {
  const { near, far } = linked(t)
  far.serve({ service: new Served() })
  const error = await t.throwsAsync(near.remote('service').fail())
  t.is(error?.name, 'TypeError')
  t.is(error?.message, 'it does not fit')
  t.false('token' in (error ?? {}))
  t.is(error?.cause, undefined)
  t.false(String(error?.stack).includes('secret'))
})

test('a thrown value that is no error becomes an error without its content', async (t) => {
  const { near, far } = linked(t)
  far.serve({
    service: servedWith({
      fail: () => {
        const refusal: unknown = 'a secret'
        throw refusal
      },
    }),
  })
  const error = await t.throwsAsync(near.remote('service').fail())
  t.is(error?.message, 'not an error')
})

test('a promise can give a remote service', async (t) => {
  const { near, far } = linked(t)
  far.serve({ service: new Served() })
  const remote = await Promise.resolve(near.remote('service'))
  t.is(await remote.add(1, 1), 102)
})

test('a one-way message to a topic without a listener has no effect', async (t) => {
  const { near, far } = linked(t)
  far.serve({ service: new Served() })
  near.tell('topic', 1)
  t.is(await near.remote('service').add(1, 1), 102)
})
