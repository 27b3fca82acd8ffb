// The service worker of the console in a scope that a test makes, as a browser would start it: events
// are handed to it, and what it asks of the browser is noted.

import { createContext, runInContext } from 'node:vm'

import { build } from 'esbuild'

const SOURCE = new URL('../../src/console/service-worker.ts', import.meta.url).pathname
export const SCOPE = 'https://push.example/console/'
export const EVENT = '#/P7K2M9QW4RD8ZT3VN6HB5YPC1G/event/burner-fault-7'

interface Shown {
  readonly title: string
  readonly options: {
    readonly body: string
    readonly data: { readonly hash: string }
    readonly tag: string
    readonly requireInteraction?: boolean
    readonly silent?: boolean
    readonly renotify?: boolean
    readonly actions?: readonly { readonly title: string; readonly action: string }[]
  }
}

const built = build({
  entryPoints: [SOURCE],
  bundle: true,
  format: 'iife',
  write: false,
  conditions: ['heliograph-source'],
  define: { FILES: '[]', VERSION: '"1"' },
}).then(({ outputFiles }) => outputFiles[0]?.text ?? '')

export const DEVICE_KEY = 'ab'.repeat(16)

/** A database of one store, whose requests end on a later turn as a browser's do. */
function databaseOf(kept: Map<string, unknown>) {
  const ending = (result: unknown) => {
    const request = Object.assign(new EventTarget(), { result })
    queueMicrotask(() => request.dispatchEvent(new Event('success')))
    return request
  }
  const store = {
    get: (key: string) => ending(structuredClone(kept.get(key))),
    put: (value: unknown, key: string) => ending(kept.set(key, structuredClone(value))),
  }
  return { open: () => ending({ transaction: () => ({ objectStore: () => store }) }) }
}

interface Setting {
  readonly pages?: readonly string[]
  /** The gateway answers with `status`, or not at all with 0. Its clock is `aheadMs` ahead. */
  readonly answer?: { status: number; aheadMs?: number }
  readonly kept?: Map<string, unknown>
}

/** A worker as a browser has it: listeners by name, and what it did. */
export async function started({
  pages = [],
  answer = { status: 200 },
  kept = new Map(),
}: Setting = {}) {
  kept.set('device', { deviceKey: DEVICE_KEY, token: 'token', language: 'en', label: 'Phone' })
  const listeners = new Map<string, (event: object) => void>()
  const shown: Shown[] = []
  const opened: string[] = []
  const told: string[] = []
  const sent: string[] = []
  const asked: Readonly<Record<string, unknown>>[] = []
  const wishes: string[] = []
  const clients = pages.map((url) => ({
    url,
    focus: async () => told.push(`${url} is focused`),
    postMessage: (hash: string) => told.push(`${url} goes to ${hash}`),
  }))
  const gateway = (body: string): Response => {
    asked.push(JSON.parse(body) as Readonly<Record<string, unknown>>)
    if (answer.status === 0) throw new TypeError('no network')
    const problem = { localized_message: 'The device is not known.', retryable: false }
    const said = {
      success: answer.status === 200,
      data: {},
      error: 'no',
      error_code: 'no',
      problem,
    }
    return new Response(JSON.stringify(said), { status: answer.status })
  }
  const profile = (): Response => {
    if (answer.status === 0) throw new TypeError('no network')
    const date = new Date(Date.now() + (answer.aheadMs ?? 0)).toUTCString()
    return new Response(JSON.stringify({ success: true, data: {} }), { headers: { date } })
  }
  const scope = {
    URL,
    AbortSignal,
    crypto,
    indexedDB: databaseOf(kept),
    // The client waits between its attempts; the test does not.
    setTimeout: (work: () => void) => setImmediate(work),
    clearTimeout: clearImmediate,
    fetch: async (
      url: string,
      { method, body = '' }: { readonly method: string; readonly body?: string },
    ) => {
      if (url === 'https://push.example/event/acknowledge') return gateway(body)
      sent.push(`${method} ${url}`)
      if (url === 'https://push.example/gateway/profile') return profile()
      if (url.includes('away')) throw new TypeError('no network')
      return {
        type: 'basic',
        ok: !url.includes('refused'),
        status: url.includes('refused') ? 403 : 200,
      }
    },
    registration: {
      scope: SCOPE,
      showNotification: async (title: string, options: Shown['options']) =>
        shown.push({ title, options }),
      getNotifications: async ({ tag }: { readonly tag: string }) => [
        { close: () => told.push(`${tag} is taken away`) },
      ],
      sync: { register: async (name: string) => wishes.push(name) },
    },
    clients: {
      matchAll: async () => clients,
      openWindow: async (url: string) => opened.push(url),
    },
    addEventListener: (name: string, listener: (event: object) => void) =>
      listeners.set(name, listener),
  }
  runInContext(await built, createContext(scope))
  /** Hands an event over; resolves when the worker has done with it. */
  const happen = async (name: string, event: object): Promise<void> => {
    const works: Promise<unknown>[] = []
    listeners.get(name)?.({ ...event, waitUntil: (work: Promise<unknown>) => works.push(work) })
    await Promise.all(works)
  }
  const push = (notification: object): Promise<void> =>
    happen('push', { data: { json: () => ({ web_push: 8030, notification }) } })
  const click = async (action: string, at = 0): Promise<boolean> => {
    let isClosed = false
    const { data } = shown[at]?.options ?? {}
    const notification = { data, close: () => (isClosed = true) }
    await happen('notificationclick', { notification, action })
    return isClosed
  }
  return { shown, opened, told, sent, asked, wishes, happen, push, click }
}
