// The workers of the page: the one with its session, and the service worker, which keeps the page's
// own files for a time without a network.

import { effect } from '@preact/signals'

import { keepDevice } from '#console/notifications/device.ts'
import type { SessionPort } from '#console/session/link.ts'
import { browserName } from '#console/people/browser-name.ts'
import { language, pushed, token } from './saved.ts'

interface ScriptUrls {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string }
}

const SERVICE_WORKER = 'service-worker.js'
/** The build writes it into the page. */
const SESSION_WORKER = document.getElementById('page')?.dataset['session'] ?? ''

const { trustedTypes } = globalThis as { readonly trustedTypes?: ScriptUrls }
/** The only script addresses that the page makes; Trusted Types refuse every other one. */
const policy = trustedTypes?.createPolicy('heliograph', {
  createScriptURL: (url) => {
    if (url === SERVICE_WORKER || url === SESSION_WORKER) return url
    throw new TypeError('only the workers have script addresses')
  },
})
const scriptUrl = (url: string): string => policy?.createScriptURL(url) ?? url

/** Starts the worker that has the session of this page. */
export const startSessionWorker = (): SessionPort =>
  new Worker(scriptUrl(SESSION_WORKER), { type: 'module' })

/** Does nothing where the browser has no workers: they need https, or this computer itself. */
export function keepWorker(): void {
  if (!('serviceWorker' in navigator)) return
  // A click on a notification leads a page that is open to what it is about.
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    if (typeof data === 'string' && data.startsWith('#/')) location.hash = data
  })
  // It acknowledges Events with the key of the device that the gateway pushes to.
  effect(() => {
    const { deviceKey } = pushed.value
    const looks = { token: token.value, language: language.value }
    if (deviceKey !== '') void keepDevice({ deviceKey, ...looks, label: browserName() })
  })
  navigator.serviceWorker
    .register(scriptUrl(SERVICE_WORKER), { updateViaCache: 'none' })
    .catch(() => {
      // The page works without, as long as there is a network.
    })
}
