// Asks the threads of another process what they call and allocate. The product has no code for it:
// Node loads test/support/probed-thread.ts in each of its threads.

import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

import { WAIT_MS } from './bounds.ts'
import type { Answered, Answers, Calls, Order, Reading } from './probed-thread.ts'

const ROOT = new URL('../..', import.meta.url).href

/** What each thread answered, by its name: `main`, or that of its start. */
export type ByThread<Answer> = Readonly<Record<string, Answer>>

export class ThreadProbe {
  /** The environment of the process. */
  readonly env: Readonly<Record<string, string>>
  readonly #threads: readonly string[]
  readonly #server: Server
  #socket: Socket | undefined
  #lastId = 0
  #take: (said: Answered) => void = () => undefined

  private constructor(server: Server, path: string, threads: readonly string[]) {
    const preload = new URL('probed-thread.ts', import.meta.url)
    preload.searchParams.set('socket', path)
    this.env = { NODE_OPTIONS: `--import=${preload.href}` }
    this.#threads = threads
    this.#server = server
    // A gateway that replaces itself, and one that follows on another, connects again.
    server.on('connection', (socket) => {
      this.#socket = socket
      socket.on('error', () => undefined)
      createInterface({ input: socket }).on('line', (line) => {
        this.#take(JSON.parse(line) as Answered)
      })
    })
  }

  /** Waits in a folder for a process with `env`, of which these threads will answer. */
  static async listen(directory: string, threads: readonly string[]): Promise<ThreadProbe> {
    const path = join(directory, 'probe.sock')
    const server = createServer()
    server.listen(path)
    await once(server, 'listening')
    return new ThreadProbe(server, path, threads)
  }

  /** Gives an order to every thread. Rejects when one of these does not answer. */
  async ask<Kind extends Order['kind']>(
    order: Extract<Order, { readonly kind: Kind }>,
    threads = this.#threads,
  ): Promise<ByThread<Answers[Kind]>> {
    this.#lastId += 1
    const id = this.#lastId
    const answers = new Map<string, unknown>()
    const silent = (): readonly string[] => threads.filter((name) => !answers.has(name))
    const all = Promise.withResolvers<void>()
    this.#take = (said) => {
      if (said.id !== id) return
      answers.set(said.thread, said.answer)
      if (silent().length === 0) all.resolve()
    }
    const timer = setTimeout(() => {
      all.reject(new Error(`no answer to '${order.kind}' of ${silent().join(', ')}`))
    }, WAIT_MS)
    this.#socket?.write(`${JSON.stringify({ id, order })}\n`)
    await all.promise.finally(() => clearTimeout(timer))
    return Object.fromEntries(answers) as ByThread<Answers[Kind]>
  }

  close(): void {
    this.#socket?.destroy()
    this.#server.close()
  }
}

/** A place as a person knows it: in the repository by its path there, built or not. */
export function placeOf(url: string): string {
  const path = url.startsWith('/') ? pathToFileURL(url).href : url // CommonJS has no address.
  return path.startsWith(ROOT) ? path.slice(ROOT.length).replace(/^dist\/(.*)\.js$/, '$1.ts') : path
}

const PRODUCT = /^(src|actors|machines)\//

/** The functions of the product that one thread called at least so often, by file and place. */
export function functionsOf(
  readings: ByThread<Pick<Reading, 'functions'>>,
  callsMin: number,
): ReadonlyMap<string, ReadonlyMap<number, string>> {
  const byFile = new Map<string, Map<number, string>>()
  for (const { url, name, offset, calls } of Object.values(readings).flatMap(callsOf)) {
    const file = placeOf(url)
    if (!PRODUCT.test(file) || calls < callsMin) continue
    const functions = byFile.get(file) ?? new Map<number, string>()
    byFile.set(file, functions.set(offset, name === '' ? '(no name)' : name))
  }
  return byFile
}

const callsOf = ({ functions }: Pick<Reading, 'functions'>): readonly Calls[] => functions
