// The compiler checks both sides of every wire. Each `@ts-expect-error` here is a mistake that has to
// stay one: `tsc` fails as soon as it is accepted.

import test from 'ava'

import type { FrontendEnd, LogEnd, ReaderEnd, ThreadEnds } from '#src/runtime/threads/contract'
import { Rpc, ThreadRpc } from '#src/threads/rpc'
import type { Services } from '#src/threads/rpc'
import { memoryWire } from '#test/support/memory-wire'
import { realRuntime } from '#test/support/real-runtime'

test('a service, a method, a topic or a payload that the contract lacks does not compile', (t) => {
  const [wire, end] = memoryWire(realRuntime)
  const engine = new ThreadRpc<FrontendEnd, ThreadEnds['engine']>(wire)
  const log = new Rpc<LogEnd, ReaderEnd>(wire)
  const mistakes = [
    // @ts-expect-error no thread has this service
    () => engine.remote('channel'),
    // @ts-expect-error a lane is a number
    () => log.tell('appended', [{ lane: 'one', position: 1, count: 1, payload: '' }]),
    // @ts-expect-error the frontend tells nothing like it
    () => engine.tell('announced', undefined),
    // @ts-expect-error the engine announces lists, no texts
    () => engine.onTell('announce', (value: string) => value),
    // @ts-expect-error this topic takes no wire
    () => engine.hand('listening', end),
    // @ts-expect-error all services have to be served
    () => log.serve({}),
  ]
  // @ts-expect-error the service has no such method
  const method: keyof ThreadEnds['engine']['services']['channels'] = 'credentialsOf'
  t.is(mistakes.length, 6)
  t.truthy(method)
})

test('a service with a method that returns no promise does not compile', (t) => {
  interface Clock {
    now(): number
  }
  // @ts-expect-error its answer is no promise
  const services: Services<{ clock: Clock }> = { clock: { now: () => 1 } }
  t.is(services.clock.now(), 1)
})
