// The context of a command line without a process: it records requests and printed lines, and the
// test answers the requests.

import { Readable } from 'node:stream'

import type { Fetch } from '#src/client/runtime'
import type { Env } from '#src/config/environment'
import type { ProcessContext, Screen, Terminal } from '#src/cli/process-context'

export interface RecordedRequest {
  readonly method: string
  readonly url: string
  readonly authorization: string | undefined
  readonly body: unknown
}

export interface FakeAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly json: unknown
}

export interface FakeOptions {
  readonly env?: Env
  /** The standard input. */
  readonly input?: string
  /** Aborted by Ctrl-C; by default it is aborted before the command begins. */
  readonly stopped?: AbortSignal
  /** Absent: the output is no terminal. */
  readonly screen?: Screen
  /** `data` of a success by default. */
  readonly answer?: (request: RecordedRequest) => FakeAnswer
}

export class FakeProcessContext implements ProcessContext {
  readonly env: Env
  readonly requests: RecordedRequest[] = []
  readonly printed: string[] = []
  readonly diagnostics: string[] = []
  readonly written: Buffer[] = []
  readonly served: Env[] = []
  readonly screen: Screen | undefined
  readonly readInput: () => Promise<string>
  readonly input: () => Readable
  readonly untilStopped: () => AbortSignal
  readonly saveMemory = (): void => undefined
  readonly #answer: (request: RecordedRequest) => FakeAnswer

  constructor({
    env = {},
    input = '',
    stopped = AbortSignal.abort(),
    screen,
    answer = () => success({ op_id: 'op', status: 'sent' }),
  }: FakeOptions = {}) {
    this.env = env
    this.screen = screen
    this.readInput = async () => input
    this.input = () => Readable.from([Buffer.from(input)])
    this.untilStopped = () => stopped
    this.#answer = answer
  }

  readonly fetch: Fetch = async (url, { method = 'GET', headers: sent = {}, body } = {}) => {
    const request = {
      method,
      url,
      authorization: new Headers(sent).get('authorization') ?? undefined,
      body: body === undefined ? undefined : (JSON.parse(body) as unknown),
    }
    this.requests.push(request)
    const { status = 200, headers = {}, json } = this.#answer(request)
    return Response.json(json, { status, headers })
  }

  readonly nowMs = (): number => 1_700_000_000_000
  /** Only `after` turns the time, at once. */
  #elapsedMs = 0
  readonly monotonicMs = (): number => this.#elapsedMs
  readonly after = (delayMs: number, callback: () => void): (() => void) => {
    this.#elapsedMs += delayMs
    queueMicrotask(callback)
    return () => {}
  }

  readonly serve = async (env: Env): Promise<number> => {
    this.served.push(env)
    return 78
  }

  readonly terminal: Terminal = {
    print: (line) => void this.printed.push(line),
    write: async (part) => void this.written.push(Buffer.from(part)),
    printDiagnostic: (line) => void this.diagnostics.push(line),
    draw: (text) => void this.printed.push(text),
    screen: () => this.screen,
    progressScreen: () => this.screen,
    drawProgress: () => {},
  }

  /** Everything that a person could have read. */
  get shown(): string {
    return [...this.printed, ...this.diagnostics].join('\n')
  }
}

export const success = (data: unknown): FakeAnswer => ({ json: { success: true, data } })

export const refusal = (
  status: number,
  code: string,
  more: { readonly retryable?: boolean; readonly headers?: FakeAnswer['headers'] } = {},
): FakeAnswer => ({
  status,
  headers: { 'x-request-id': 'r1', ...more.headers },
  json: {
    success: false,
    error: 'a sentence about it',
    error_code: code,
    problem: { code, retryable: more.retryable ?? false },
  },
})
