// Method: a factory of one database in memory, whose requests end on a later turn as a browser's do.

import test from 'ava'

import { indexedDbPositions } from '#src/client/indexed-db-positions'
import type { DatabaseFactory } from '#src/client/indexed-db-positions'
import { channel } from '#test/support/session-words'

/** A request or a transaction that succeeds, or fails with an error. */
function ending(name: string, failure: string, result: unknown, error?: Error) {
  const target = Object.assign(new EventTarget(), { result, error })
  queueMicrotask(() => target.dispatchEvent(new Event(error === undefined ? name : failure)))
  return target
}

function factoryOf(kept: Map<string, unknown>, failure?: Error): DatabaseFactory {
  const stores: string[] = []
  const objectStore = () => ({
    get: (key: string) => ending('success', 'error', structuredClone(kept.get(key)), failure),
    put: (value: unknown, key: string) => {
      if (failure === undefined) kept.set(key, structuredClone(value))
      return ending('success', 'error', key, failure)
    },
  })
  const database = {
    createObjectStore: (name: string) => stores.push(name),
    transaction: () =>
      Object.assign(ending('complete', 'abort', undefined, failure), { objectStore }),
  }
  return {
    open: () => {
      const request = ending('success', 'error', database)
      request.addEventListener('success', () => stores.length > 0)
      queueMicrotask(() => request.dispatchEvent(new Event('upgradeneeded')))
      return request as unknown as ReturnType<DatabaseFactory['open']>
    },
  }
}

const A = channel('A')

test('positions are those that were saved last, each device by its own name', async (t) => {
  const kept = new Map<string, unknown>()
  const store = indexedDbPositions('one', factoryOf(kept))
  t.deepEqual(await store.load(), new Map())
  await store.save(new Map([[A, 3]]))
  await store.save(new Map([[A, 7]]))
  t.deepEqual(await indexedDbPositions('one', factoryOf(kept)).load(), new Map([[A, 7]]))
  t.deepEqual(await indexedDbPositions('two', factoryOf(kept)).load(), new Map())
})

test('a value that is no positions, and a database that fails, reject', async (t) => {
  const other = new Map<string, unknown>([['one', [['not a channel', -1]]]])
  await t.throwsAsync(indexedDbPositions('one', factoryOf(other)).load(), { instanceOf: TypeError })
  const full = indexedDbPositions('one', factoryOf(new Map(), new Error('the disk is full')))
  await t.throwsAsync(full.save(new Map([[A, 1]])), { message: 'the disk is full' })
})
