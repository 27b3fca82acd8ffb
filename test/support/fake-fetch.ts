// A fetch that reaches no network: a function answers each request.

/** A request as the SDK makes it. */
export interface Asked {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
}

/** A fetch whose answers come from a function of path and body. */
export const fakeFetch =
  (answer: (asked: Asked) => Response | Promise<Response>): typeof globalThis.fetch =>
  async (request, init) => {
    const url = request instanceof Request ? request.url : request.toString()
    const text = typeof init?.body === 'string' ? init.body : '{}'
    const body = JSON.parse(text) as Readonly<Record<string, unknown>>
    const answered = answer({ path: new URL(url).pathname, body })
    return Promise.race([answered, aborted(init?.signal)])
  }

/** Rejects once the signal is aborted. */
const aborted = (signal: AbortSignal | null | undefined): Promise<never> =>
  new Promise((_, reject) => {
    const end = (): void => reject(new Error('aborted'))
    if (signal?.aborted === true) end()
    else signal?.addEventListener('abort', end, { once: true })
  })

/** The gateway's answer with data. */
export const success = (data: unknown): Response => Response.json({ success: true, data })

/** The gateway's refusal. */
export const refusal = (
  status: number,
  error_code: string,
  {
    retryable = false,
    headers = {},
  }: { retryable?: boolean; headers?: Record<string, string> } = {},
): Response =>
  Response.json(
    { success: false, error: 'a sentence', error_code, problem: { code: error_code, retryable } },
    { status, headers },
  )
