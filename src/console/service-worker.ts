// Keeps the files of one build, so that the page opens without a network, and shows pushes. It
// stores no answer of the gateway: those are the page's, which says how old they are. It sends the
// requests of actions that a person chooses: the page itself may send to this gateway alone. The
// buttons of an Event acknowledge it.

import type { HttpAction, MessageAction } from '#src/schemas/fields/message-actions'
import { acknowledge, sendWaiting } from './notifications/acknowledging.ts'
import type { Acknowledging, Tell } from './notifications/acknowledging.ts'
import { keptDevice } from './notifications/device.ts'
import { isEnd, noticeOf, outcomeNotice, wishOf } from './notifications/notice.ts'
import type { Kept, Notice, Pushed } from './notifications/notice.ts'
import { sendAction } from './state/action-request.ts'
import { ownMs } from './state/present.ts'

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
interface PushCame extends Extendable {
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
interface Synchronised extends Extendable {
  readonly tag: string
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
    getNotifications(which: { readonly tag: string }): Promise<readonly Notification[]>
    /** Chrome and Edge have it. */
    readonly sync?: { register(tag: string): Promise<void> }
  }
  readonly clients: {
    claim(): Promise<void>
    matchAll(options: { readonly type: 'window' }): Promise<readonly OpenPage[]>
    openWindow(url: string): Promise<unknown>
  }
  skipWaiting(): Promise<void>
  addEventListener(name: 'install' | 'activate', listener: (event: Extendable) => void): void
  addEventListener(name: 'fetch', listener: (event: Fetching) => void): void
  addEventListener(name: 'push', listener: (event: PushCame) => void): void
  addEventListener(name: 'sync', listener: (event: Synchronised) => void): void
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
  if (request.mode !== 'navigate') return event.respondWith(fileFor(request))
  event.respondWith(pageFor(request))
  event.waitUntil(sendKept())
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

scope.addEventListener('push', (event) => {
  const { notification } = (event.data?.json() ?? {}) as { readonly notification?: Pushed }
  if (notification === undefined) return
  event.waitUntil(Promise.all([showPush(notification), sendKept()]))
})

async function showPush(pushed: Pushed): Promise<void> {
  const notice = noticeOf(pushed, placeOf(pushed.navigate ?? ''), await keptDevice())
  await show(notice)
  // Browsers end the subscription of a worker that shows nothing of a push: so it is shown first.
  if (isEnd(pushed)) await takeAway(notice.options.tag)
}

const show = ({ title, options }: Notice): Promise<void> =>
  scope.registration.showNotification(title, options)

async function takeAway(tag: string): Promise<void> {
  for (const shown of await scope.registration.getNotifications({ tag })) shown.close()
}

/** The place in the page, without the address: a push opens this gateway's page and no other. */
function placeOf(navigate: string): string {
  return URL.parse(navigate, scope.registration.scope)?.hash ?? ''
}

scope.addEventListener('notificationclick', (event) => {
  event.notification.close()
  const kept = event.notification.data as Kept
  const wish = wishOf(event.action, kept, ownMs())
  if (wish !== undefined) return event.waitUntil(take(wish))
  const action = event.action === '' ? undefined : kept.actions[Number(event.action)]
  event.waitUntil(action === undefined ? openPage(kept.hash) : act(action))
})

/** The address of the gateway: the worker stands at `<address>/console/`. */
const BASE_URL = new URL('..', scope.registration.scope).href.replace(/\/$/, '')
/** The name of a wish that browsers fulfil when the network is back, where they know such. */
const AGAIN = 'acknowledge'

/** Acknowledges the Event of a notification. (notifications/acknowledging.ts) */
async function take(wish: Acknowledging): Promise<void> {
  await acknowledge(BASE_URL, wish, async (each, outcome) => {
    await tell(each, outcome)
    if (outcome.kind === 'waiting') await scope.registration.sync?.register(AGAIN)
  })
}

const tell: Tell = async (wish, outcome) => {
  const { language } = await keptDevice()
  await show(outcomeNotice(wish, outcome, language))
}

const sendKept = (): Promise<void> => sendWaiting(BASE_URL, ownMs(), tell)

scope.addEventListener('sync', (event) => {
  if (event.tag === AGAIN) event.waitUntil(sendKept())
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
