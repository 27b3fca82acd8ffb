// Keeps the files of one build, so that the page opens without a network. It stores no answer of
// the gateway: those are the page's, which says how old they are.

// The build fills these in.
declare const FILES: readonly string[]
declare const VERSION: string

interface Extendable extends Event {
  waitUntil(work: Promise<unknown>): void
}
interface Fetching extends Extendable {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}
interface WorkerScope {
  readonly registration: { readonly scope: string }
  readonly clients: { claim(): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(name: 'install' | 'activate', listener: (event: Extendable) => void): void
  addEventListener(name: 'fetch', listener: (event: Fetching) => void): void
}

const scope = globalThis as unknown as WorkerScope
const NAME = `console ${VERSION}`

scope.addEventListener('install', (event) => {
  const fill = async (): Promise<void> => {
    const cache = await caches.open(NAME)
    await cache.addAll([...FILES])
    await scope.skipWaiting()
  }
  event.waitUntil(fill())
})

scope.addEventListener('activate', (event) => {
  const clean = async (): Promise<void> => {
    const names = await caches.keys()
    const old = names.filter((name) => name.startsWith('console ') && name !== NAME)
    await Promise.all(old.map((name) => caches.delete(name)))
    await scope.clients.claim()
  }
  event.waitUntil(clean())
})

scope.addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET' || !request.url.startsWith(scope.registration.scope)) return
  event.respondWith(request.mode === 'navigate' ? pageFor(request) : fileFor(request))
})

/** The page as the gateway has it; the kept one while it does not answer. */
async function pageFor(request: Request): Promise<Response> {
  try {
    return await fetch(request)
  } catch {
    return (await caches.match('./')) ?? Response.error()
  }
}

async function fileFor(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request)
}
