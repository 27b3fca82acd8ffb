// Method: the service worker runs in a scope that the test makes, as a browser would start it;
// events are handed to it, and what it asks of the browser is noted.

import { createContext, runInContext } from 'node:vm'

import test from 'ava'
import { build } from 'esbuild'

const SOURCE = new URL('../../src/console/service-worker.ts', import.meta.url).pathname
const SCOPE = 'https://push.example/console/'
const EVENT = '#/P7K2M9QW4RD8ZT3VN6HB5YPC1G/event/burner-fault-7'

interface Shown {
  readonly title: string
  readonly options: {
    readonly body: string
    readonly data: { readonly hash: string }
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

/** A worker as a browser has it: listeners by name, and what it did. */
async function started(pages: readonly string[] = []) {
  const listeners = new Map<string, (event: object) => void>()
  const shown: Shown[] = []
  const opened: string[] = []
  const told: string[] = []
  const sent: string[] = []
  const clients = pages.map((url) => ({
    url,
    focus: async () => told.push(`${url} is focused`),
    postMessage: (hash: string) => told.push(`${url} goes to ${hash}`),
  }))
  const scope = {
    URL,
    fetch: async (url: string, { method }: { readonly method: string }) => {
      sent.push(`${method} ${url}`)
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
  return { shown, opened, told, sent, happen, push, click }
}

const ACTIONS =
  'view, Camera, https://cam.example; http, Open, https://door.example/open, method=PUT'
const metadata = (actions: string): object => ({
  data: { severity: 'critical', metadata: JSON.stringify({ 'compat.topic.actions': actions }) },
})
const FAULT = { title: 'Burner fault', body: 'flame lost', navigate: `${SCOPE}${EVENT}`, tag: 'a' }

test('a click on a notification opens what it is about: in the page that is open, or in a new one', async (t) => {
  const alone = await started()
  await alone.push(FAULT)
  t.true(await alone.click(''))
  t.deepEqual(alone.opened, [`${SCOPE}${EVENT}`])

  const open = `${SCOPE}#/P7K2M9QW4RD8ZT3VN6HB5YPC1G/board`
  const beside = await started(['https://push.example/oauth/', open])
  await beside.push(FAULT)
  await beside.click('')
  t.deepEqual(beside.told, [`${open} goes to ${EVENT}`, `${open} is focused`])
  t.deepEqual(beside.opened, [])
})

test('a click leads to this gateway alone, whatever address the push names', async (t) => {
  for (const navigate of ['https://elsewhere.example/x', 'javascript:alert(1)', '', 'https://[']) {
    const worker = await started()
    await worker.push({ ...FAULT, navigate })
    await worker.click('')
    t.deepEqual(worker.opened, [SCOPE], navigate)
  }
  const worker = await started()
  await worker.push({ ...FAULT, navigate: `https://elsewhere.example/console/${EVENT}` })
  await worker.click('')
  t.deepEqual(worker.opened, [`${SCOPE}${EVENT}`])
})

test('a button of a notification opens its address, or sends its request, and says when that fails', async (t) => {
  const worker = await started()
  await worker.push({ ...FAULT, ...metadata(ACTIONS) })
  t.deepEqual(
    worker.shown[0]?.options.actions?.map(({ title, action }) => [action, title]),
    [
      ['0', 'Camera'],
      ['1', 'Open'],
    ],
  )
  t.true(await worker.click('0'))
  t.deepEqual(worker.opened, ['https://cam.example/'])
  t.true(await worker.click('1'))
  t.deepEqual([worker.sent, worker.shown.length], [['PUT https://door.example/open'], 1])

  for (const [host, text] of [
    ['refused.example', 'refused.example: 403'],
    ['away.example', 'away.example'],
  ] as const) {
    const failing = await started()
    await failing.push({ ...FAULT, ...metadata(`http, Open, https://${host}/, method=PUT`) })
    await failing.click('0')
    t.deepEqual([failing.shown[1]?.title, failing.shown[1]?.options.body], ['✗ Open', text])
    await failing.click('', 1)
    t.deepEqual(failing.opened, [SCOPE], 'a click on that leads to the page')
  }
})

test('a button that the notification does not have does what a click on it does', async (t) => {
  const worker = await started()
  await worker.push({ ...FAULT, ...metadata('view, Bad, javascript:alert(1)') })
  t.deepEqual(worker.shown[0]?.options.actions, [])
  await worker.click('0')
  t.deepEqual([worker.opened, worker.sent], [[`${SCOPE}${EVENT}`], []])
})

test('severity decides how insistent a notification is, and what is no push shows nothing', async (t) => {
  const worker = await started()
  await worker.push({ ...FAULT, ...metadata('') })
  await worker.push({ ...FAULT, silent: true, data: { severity: 'low' } })
  await worker.happen('push', { data: { json: () => ({ other: 1 }) } })
  await worker.happen('push', { data: null })
  t.deepEqual(
    worker.shown.map(({ options }) => [
      options.requireInteraction,
      options.silent,
      options.renotify,
    ]),
    [
      [true, false, true],
      [false, true, false],
    ],
  )
})
