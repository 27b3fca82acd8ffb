// Registers the service worker, which keeps the page's own files for a time without a network.

interface ScriptUrls {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string }
}

const WORKER = 'service-worker.js'

/** The one script address that the page makes; Trusted Types refuse every other one. */
function workerUrl(): string {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: ScriptUrls }
  const policy = trustedTypes?.createPolicy('heliograph', {
    createScriptURL: (url) => {
      if (url !== WORKER) throw new TypeError('only the service worker has a script address')
      return url
    },
  })
  return policy?.createScriptURL(WORKER) ?? WORKER
}

/** Does nothing where the browser has no workers: they need https, or this computer itself. */
export function keepWorker(): void {
  if (!('serviceWorker' in navigator)) return
  // A click on a notification leads a page that is open to what it is about.
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    if (typeof data === 'string' && data.startsWith('#/')) location.hash = data
  })
  navigator.serviceWorker.register(workerUrl(), { updateViaCache: 'none' }).catch(() => {
    // The page works without, as long as there is a network.
  })
}
