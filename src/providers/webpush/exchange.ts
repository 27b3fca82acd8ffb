// Pairs one request to a push service with its answer.

import type { Dispatcher } from 'undici'

import { ForbiddenAddress } from '#src/outbound/address-guard'
import type { ServiceAnswer } from './answers.ts'

export interface ServiceRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** The ending of a request. `forbidden`: the gateway does not connect to the address. */
export type Reply =
  | { readonly kind: 'answered'; readonly answer: ServiceAnswer }
  | { readonly kind: 'unanswered'; readonly reason: string; readonly afterMs?: number }
  | { readonly kind: 'forbidden' }

export class Exchange implements Dispatcher.DispatchHandler {
  /** The time of its beginning, in monotonic milliseconds. */
  readonly beganMs: number
  readonly #settle: (reply: Reply) => void
  #controller: Dispatcher.DispatchController | undefined
  #answer: ServiceAnswer | undefined
  #isSettled = false

  constructor(beganMs: number, settle: (reply: Reply) => void) {
    this.beganMs = beganMs
    this.#settle = settle
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isSettled) controller.abort(new Error('nobody waits for it'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return // More comes.
    const retryAfter = headers['retry-after']
    this.#answer = { status, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined }
  }

  /** Nobody reads the body. The pool has a bound for it. */
  onResponseData(): void {}

  onResponseEnd(): void {
    this.#end(undefined)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error)
  }

  /** Ends the request, and the connection that carries it. */
  giveUp(): void {
    this.#end(Object.assign(new Error(), { code: 'ETIMEDOUT' }))
    this.#controller?.abort(new Error('the answer took too long'))
  }

  #end(error: Error | undefined): void {
    if (this.#isSettled) return
    this.#isSettled = true
    if (this.#answer !== undefined) this.#settle({ kind: 'answered', answer: this.#answer })
    else if (error instanceof ForbiddenAddress) this.#settle({ kind: 'forbidden' })
    else this.#settle({ kind: 'unanswered', reason: codeOf(error) })
  }
}

/** Returns the code of the system or of the library, never a message, which may name the host. */
function codeOf(error: Error | undefined): string {
  const code = error !== undefined && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : 'ConnectionFailed'
}
