// Values by name in the IndexedDB of this browser, which its workers have, too.

export interface Store {
  /** Resolves with undefined for what is not kept, and where there is no database. */
  readonly get: (key: string) => Promise<unknown>
  /** Keeps a value as far as the browser can; undefined removes it. */
  readonly put: (key: string, value: unknown) => Promise<void>
}

/** The store of a database that has no other one. */
export function storeIn(database: string, store: string): Store {
  let opened: Promise<IDBDatabase | undefined> | undefined
  const open = (): Promise<IDBDatabase | undefined> => (opened ??= opening(database, store))
  return {
    get: async (key) => {
      const found = (await open())?.transaction(store).objectStore(store).get(key)
      return found === undefined ? undefined : resultOf<unknown>(found)
    },
    put: async (key, value) => {
      const transaction = (await open())?.transaction(store, 'readwrite', { durability: 'relaxed' })
      const values = transaction?.objectStore(store)
      if (values === undefined) return
      const saving: Promise<unknown> =
        value === undefined ? resultOf(values.delete(key)) : resultOf(values.put(value, key))
      await saving.catch(() => undefined) // A full disk: the page goes on without.
    },
  }
}

async function opening(database: string, store: string): Promise<IDBDatabase | undefined> {
  try {
    const request = indexedDB.open(database, 1)
    request.addEventListener('upgradeneeded', () => request.result.createObjectStore(store))
    return await resultOf(request)
  } catch {
    return undefined // Some private windows have no database.
  }
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  request.addEventListener('success', () => resolve(request.result))
  request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB failed')))
  return promise
}
