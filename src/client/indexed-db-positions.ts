// Keeps the positions of a device in a browser's IndexedDB, which workers have too.

import { checkedPositions } from './position-store.ts'
import type { PositionStore } from './position-store.ts'

/** The part of `indexedDB` that the store uses. */
export interface DatabaseFactory {
  open(name: string, version: number): OpenRequest
}

interface Emitter {
  readonly error: unknown
  addEventListener(name: string, listener: () => void): void
}

interface Request extends Emitter {
  readonly result: unknown
}

interface OpenRequest extends Request {
  readonly result: Database
}

interface Database {
  createObjectStore(name: string): unknown
  transaction(
    stores: string,
    mode: 'readonly' | 'readwrite',
    options: { readonly durability: 'relaxed' },
  ): Transaction
}

interface Transaction extends Emitter {
  objectStore(name: string): {
    get(key: string): Request
    put(value: unknown, key: string): Request
  }
}

const DATABASE = 'heliograph'
const STORE = 'positions'
const RELAXED = { durability: 'relaxed' } as const

/**
 * Keeps positions in IndexedDB. Each device needs a name of its own. The browser may lose the last
 * save in a power failure: entries since then come again. `load` rejects when the name has another
 * value.
 */
export function indexedDbPositions(name: string, factory = platformFactory()): PositionStore {
  let opened: Promise<Database> | undefined
  const database = (): Promise<Database> => (opened ??= open(factory))
  return {
    load: async () => {
      const store = (await database()).transaction(STORE, 'readonly', RELAXED).objectStore(STORE)
      const pairs = (await resultOf(store.get(name))) ?? []
      const positions = Array.isArray(pairs) ? checkedPositions(pairs) : undefined
      if (positions === undefined) throw new TypeError(`${name} does not hold positions`)
      return positions
    },
    save: async (positions) => {
      const transaction = (await database()).transaction(STORE, 'readwrite', RELAXED)
      transaction.objectStore(STORE).put([...positions], name)
      await endOf(transaction)
    },
  }
}

function platformFactory(): DatabaseFactory {
  const { indexedDB: factory } = globalThis as { readonly indexedDB?: DatabaseFactory }
  if (factory === undefined) throw new TypeError('this platform has no IndexedDB')
  return factory
}

async function open(factory: DatabaseFactory): Promise<Database> {
  const request = factory.open(DATABASE, 1)
  request.addEventListener('upgradeneeded', () => void request.result.createObjectStore(STORE))
  return (await resultOf(request)) as Database
}

function resultOf(request: Request): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  request.addEventListener('success', () => resolve(request.result))
  request.addEventListener('error', () => reject(request.error))
  return promise
}

function endOf(transaction: Transaction): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  transaction.addEventListener('complete', () => resolve())
  transaction.addEventListener('abort', () => reject(transaction.error))
  return promise
}
