// The request of an action of a Message: the person's browser sends it, and nobody else.

import type { HttpAction } from '#src/schemas/fields/message-actions'

/** `status`: that of an answer that says no; 0 without an answer. */
export interface ActionOutcome {
  readonly isSent: boolean
  readonly status: number
}

const PLAIN = new Set(['GET', 'HEAD', 'POST'])

/** Sends the request without cookies, and without the address of the page. */
export async function sendAction(action: HttpAction): Promise<ActionOutcome> {
  const { url, method, headers, body } = action
  // Without CORS a server takes the requests that any page may send; the browser hides its answer.
  const isPlain = PLAIN.has(method) && Object.keys(headers).length === 0
  try {
    const { type, ok, status } = await fetch(url, {
      method,
      headers,
      ...(body !== '' && method !== 'GET' && method !== 'HEAD' && { body }),
      mode: isPlain ? 'no-cors' : 'cors',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
    })
    return { isSent: ok || type === 'opaque', status }
  } catch {
    return { isSent: false, status: 0 }
  }
}

/** False where the page has no worker, which alone may send to other addresses. */
export const canSendActions = (): boolean =>
  'serviceWorker' in navigator && navigator.serviceWorker.controller !== null

/** Has the worker send it. */
export async function sendByWorker(action: HttpAction): Promise<ActionOutcome> {
  const { port1, port2 } = new MessageChannel()
  const answered = new Promise<ActionOutcome>((resolve) => {
    port1.addEventListener('message', ({ data }) => resolve(data as ActionOutcome))
  })
  port1.start()
  const { active } = await navigator.serviceWorker.ready
  active?.postMessage(action, [port2])
  return answered
}
