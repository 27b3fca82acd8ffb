// Keeps the files of one build, so that the page opens without a network, and shows pushes. It
// stores no answer of the gateway: those are the page's, which says how old they are. It sends the
// requests of actions that a person chooses: the page itself may send to this gateway alone.

import { ACTIONS_KEY, offeredActions } from '#src/schemas/fields/message-actions'
import type { HttpAction, MessageAction } from '#src/schemas/fields/message-actions'
import { recordFrom } from '#domain/record'
import { sendAction } from './state/action-request.ts'

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
interface Pushed extends Extendable {
  readonly data: { json(): unknown } | null
}
interface Clicked extends Extendable {
  readonly notification: Notification
  /** The button; '' for the notification itself. */
  readonly action: string
}
interface Asked extends Extendable {
  readonly data: HttpAction
  readonly ports: readonly MessagePort[]
}
interface OpenPage {
  readonly url: string
  focus(): Promise<unknown>
  postMessage(message: string): void
}
interface WorkerScope {
  readonly registration: {
    readonly scope: string
    showNotification(title: string, options: object): Promise<void>
  }
  readonly clients: {
    claim(): Promise<void>
    matchAll(options: { readonly type: 'window' }): Promise<readonly OpenPage[]>
    openWindow(url: string): Promise<unknown>
  }
  skipWaiting(): Promise<void>
  addEventListener(name: 'install' | 'activate', listener: (event: Extendable) => void): void
  addEventListener(name: 'fetch', listener: (event: Fetching) => void): void
  addEventListener(name: 'push', listener: (event: Pushed) => void): void
  addEventListener(name: 'message', listener: (event: Asked) => void): void
  addEventListener(name: 'notificationclick', listener: (event: Clicked) => void): void
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

/** The part of a push that is shown. (docs/providers.md, Web Push) */
interface Notice {
  readonly title: string
  readonly body?: string
  readonly navigate?: string
  readonly tag?: string
  readonly silent?: boolean
  readonly timestamp?: number
  readonly data?: { readonly severity?: string; readonly metadata?: string }
}

scope.addEventListener('push', (event) => {
  const { notification } = (event.data?.json() ?? {}) as { readonly notification?: Notice }
  if (notification === undefined) return
  const { title, body = '', navigate = '', tag = '', silent, timestamp, data } = notification
  const actions = offeredActions(recordFrom(data?.metadata ?? '')[ACTIONS_KEY])
  const options = {
    body,
    // A browser shows as many as it has room for.
    actions: actions.map(({ label }, at) => ({ action: String(at), title: label })),
    // A later update of the same Thing or Event takes the place of this one.
    tag,
    renotify: tag !== '' && silent !== true,
    silent: silent === true,
    timestamp,
    requireInteraction: data?.severity === 'critical',
    icon: 'icon-192.png',
    data: { hash: placeOf(navigate), actions },
  }
  event.waitUntil(scope.registration.showNotification(title, options))
})

/** The place in the page, without the address: a push opens this gateway's page and no other. */
function placeOf(navigate: string): string {
  return URL.parse(navigate, scope.registration.scope)?.hash ?? ''
}

interface Kept {
  readonly hash: string
  readonly actions: readonly MessageAction[]
}

scope.addEventListener('notificationclick', (event) => {
  event.notification.close()
  const { hash, actions } = event.notification.data as Kept
  const action = event.action === '' ? undefined : actions[Number(event.action)]
  event.waitUntil(action === undefined ? openPage(hash) : act(action))
})

async function openPage(hash: string): Promise<void> {
  const pages = await scope.clients.matchAll({ type: 'window' })
  const page = pages.find(({ url }) => url.startsWith(scope.registration.scope))
  if (page === undefined) {
    await scope.clients.openWindow(scope.registration.scope + hash)
    return
  }
  page.postMessage(hash)
  await page.focus()
}

/** Does what a button of a notification says; only a failure is told. */
async function act(action: MessageAction): Promise<void> {
  if (action.kind === 'view') {
    await scope.clients.openWindow(action.url)
    return
  }
  const { isSent, status } = await sendAction(action)
  if (isSent) return
  const body = `${new URL(action.url).host}${status === 0 ? '' : `: ${status}`}`
  const data: Kept = { hash: '', actions: [] }
  await scope.registration.showNotification(`✗ ${action.label}`, { body, data })
}

scope.addEventListener('message', (event) => {
  const [port] = event.ports
  event.waitUntil(sendAction(event.data).then((outcome) => port?.postMessage(outcome)))
})
