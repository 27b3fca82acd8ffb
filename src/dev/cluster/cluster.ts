// Starts servers, then nodes; stops them in the opposite order. A lock file beside the folder of a
// cluster names the process that uses it; a folder is removed before its lock, so that no folder
// remains without a lock.
//
// Invariants:
//   dev-cluster/1. `stop` stops everything that `start` started, the last first, also when the
//     start failed or was aborted; then it removes the folder.
//   dev-cluster/2. When this process ends early, it kills servers and nodes and removes the folder.
//     A process that is killed cannot do so: the next start removes its folder, and never the
//     folder of a running cluster.

import { mkdtempSync, rmSync } from 'node:fs'
import { rm, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { recordFrom, recordOf } from '#domain/record'
import type { Fetch } from '#src/client/runtime'
import type { Env } from '#src/config/environment'
import { CommandError } from '#src/cli/endings'
import { onOneLine } from '#src/cli/terminal-text'
import { aborted } from '#src/dev/own-program'
import { atExit } from '#src/dev/servers/at-exit'
import { unlockFile, tryLockFile } from '#src/dev/servers/lock-file'
import { isPortFree, reservePort } from '#src/dev/servers/port'
import { change } from './fact.ts'
import type { Fact } from './fact.ts'
import { ClusterNode } from './node.ts'
import type { NodeOptions } from './node.ts'
import { startOwnMariaDb, startOwnNats } from './servers.ts'

const READY_WITHIN_MS = 60_000

interface ClusterOptions {
  readonly nodes: number
  /** The port of the first node, the others follow; undefined takes free ports. */
  readonly firstPort: number | undefined
  readonly env: Env
  readonly fetch: Fetch
  /** The folder in which the cluster's own folder is made. */
  readonly temporaryFolder: string
  readonly report: (who: string, fact: Fact) => void
}

/** A cluster that is starting, running or stopping. The caller calls `stop` in any case. */
export class DevCluster {
  readonly #options: ClusterOptions
  readonly #failed = new AbortController()
  readonly #watching = new AbortController()
  /** Functions that stop the started servers and nodes, in the order of starting. */
  readonly #closing: (() => Promise<void>)[] = []
  readonly #nodes: ClusterNode[] = []
  #isStarted = false

  constructor(options: ClusterOptions) {
    this.#options = options
  }

  get nodes(): readonly ClusterNode[] {
    return this.#nodes
  }

  /** Aborted when no node is left; the reason is the error for the user. */
  get failed(): AbortSignal {
    return this.#failed.signal
  }

  /**
   * Starts everything and waits until every node is ready; false when `stopped` is aborted first.
   * Throws CommandError when something does not start.
   */
  async start(stopped: AbortSignal): Promise<boolean> {
    const { env, report } = this.#options
    if (stopped.aborted) return false
    const ports = await this.#reservePorts()
    const folder = await this.#makeFolder()
    const nats = await startOwnNats({ folder, env, report })
    this.#closing.push(() => nats.stop())
    if (stopped.aborted) return false
    const mariaDb = await startOwnMariaDb({ folder, env, report })
    this.#closing.push(() => mariaDb.stop())
    if (stopped.aborted) return false
    const shared = { folder, env, natsUrl: nats.url, databaseUrl: mariaDb.url }
    this.#closing.push(() => this.#stopNodes())
    const ready = ports.map((port, index) => this.#startNode(`node${index + 1}`, port, shared))
    this.#isStarted = await whenAllReady(ready, AbortSignal.any([stopped, this.failed]))
    this.failed.throwIfAborted()
    return this.#isStarted
  }

  /** Stops everything and removes the folder. (dev-cluster/1) */
  async stop(): Promise<void> {
    this.#watching.abort()
    for (const close of this.#closing.splice(0).toReversed()) await close() // dev-cluster/1
  }

  async #reservePorts(): Promise<readonly number[]> {
    const { nodes, firstPort } = this.#options
    const ports: number[] = []
    for (let index = 0; index < nodes; index += 1) {
      ports.push(firstPort === undefined ? await this.#reservePort() : firstPort + index)
    }
    for (const port of ports) {
      if (await isPortFree(port)) continue
      throw new CommandError(`port ${port} is taken or not allowed; choose others with --port`)
    }
    return ports
  }

  async #reservePort(): Promise<number> {
    const { port, release } = await reservePort()
    this.#closing.push(release)
    return port
  }

  async #makeFolder(): Promise<string> {
    const { temporaryFolder } = this.#options
    await removeLeftovers(temporaryFolder) // dev-cluster/2
    const folder = mkdtempSync(join(temporaryFolder, FOLDER_PREFIX))
    const lock = await holdFolder(folder)
    this.#closing.push(() => unlockFile(lock))
    // Registered before the servers start, since the function registered last runs first.
    // (dev-cluster/2)
    const forget = atExit(() => rmSync(folder, REMOVAL))
    this.#closing.push(async () => {
      forget()
      await rm(folder, REMOVAL)
    })
    return folder
  }

  /** Resolves when the node is ready for the first time. */
  #startNode(name: string, port: number, shared: Shared): Promise<void> {
    const { fetch: ask, report } = this.#options
    const node = new ClusterNode({ name, port, ...shared, onFact: (fact) => report(name, fact) })
    this.#nodes.push(node)
    report(name, change(`started as process ${node.processId} on ${node.baseUrl}`))
    const ready = Promise.withResolvers<void>()
    const gone = new AbortController()
    void node.ended.then((ending) => {
      gone.abort()
      this.#nodeEnded(node, ending)
    })
    void watchReadiness({
      baseUrl: node.baseUrl,
      fetch: ask,
      signal: AbortSignal.any([gone.signal, this.#watching.signal]),
      changed: (isReady, text) => {
        report(name, change(text))
        if (isReady) ready.resolve()
      },
    })
    return ready.promise
  }

  #nodeEnded(node: ClusterNode, ending: string): void {
    const { report } = this.#options
    if (node.isStopping) {
      report(node.name, change(ending === 'exit code 0' ? 'stopped' : `stopped (${ending})`))
      return
    }
    if (!this.#isStarted) {
      this.#failed.abort(new CommandError(`${node.name} did not start (${ending})${because(node)}`))
      return
    }
    const isLast = !this.#nodes.some(({ isRunning }) => isRunning)
    const consequence = isLast ? 'no node is left' : 'the others take over its lanes'
    report(node.name, change(`died (${ending}) and does not start again; ${consequence}`))
    if (isLast) this.#failed.abort(new CommandError('no node of the cluster is left'))
  }

  async #stopNodes(): Promise<void> {
    const running = this.#nodes.filter(({ isRunning }) => isRunning)
    await Promise.all(running.map((node) => node.stop()))
  }
}

type Shared = Pick<NodeOptions, 'folder' | 'env' | 'natsUrl' | 'databaseUrl'>

/** The node's last problem, as the end of a sentence. */
const because = ({ lastProblem }: ClusterNode): string =>
  lastProblem === '' ? '' : `: ${lastProblem}`

/** False when the signal is aborted first; throws when the nodes take too long. */
async function whenAllReady(
  nodes: readonly Promise<void>[],
  stopped: AbortSignal,
): Promise<boolean> {
  const late = AbortSignal.timeout(READY_WITHIN_MS)
  const isOver = aborted(AbortSignal.any([stopped, late])).then(() => false)
  const areReady = await Promise.race([Promise.all(nodes).then(() => true), isOver])
  if (late.aborted) throw new CommandError('the nodes were not ready in time')
  return areReady
}

export const FOLDER_PREFIX = 'heliograph-dev-cluster-'
/** A server that was killed a moment ago may still be writing. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 } as const
const LOCK = '.lock'

/** Locks a folder for this process. Gives the lock file, which the caller removes last. */
export async function holdFolder(folder: string): Promise<string> {
  const lock = `${folder}${LOCK}`
  if (!(await tryLockFile(lock))) throw new Error(`${lock} is held by another process`)
  return lock
}

/** Removes the folders whose process has ended, except one that it cannot remove. */
export async function removeLeftovers(temporaryFolder: string): Promise<void> {
  for (const name of await readdir(temporaryFolder)) {
    if (!name.startsWith(FOLDER_PREFIX) || !name.endsWith(LOCK)) continue
    const lock = join(temporaryFolder, name)
    const isLeft = await tryLockFile(lock).catch(() => false)
    if (!isLeft) continue
    await rm(lock.slice(0, -LOCK.length), REMOVAL).then(
      () => unlockFile(lock),
      () => undefined, // This process keeps the lock; the next start tries again.
    )
  }
}

// Polls the readiness of a node and reports each change.

const ASK_AGAIN_MS = 250
/** The node itself gives its dependencies two seconds. */
const ANSWER_WITHIN_MS = 3_000

interface ReadinessWatch {
  readonly baseUrl: string
  readonly fetch: Fetch
  /** Ends the watch. */
  readonly signal: AbortSignal
  /** Gets each change: `ready`, or `not ready` with the missing dependencies. */
  readonly changed: (isReady: boolean, text: string) => void
}

/** Resolves when the signal ends it. Reports nothing while the node starts. */
export async function watchReadiness(watch: ReadinessWatch): Promise<void> {
  let wasReady = false
  while (!watch.signal.aborted) {
    const missing = await missingAt(watch)
    if (watch.signal.aborted) return
    const isReady = missing === ''
    if (isReady !== wasReady) watch.changed(isReady, isReady ? 'ready' : `not ready: ${missing}`)
    wasReady = isReady
    await delay(ASK_AGAIN_MS, undefined, { signal: watch.signal }).catch(() => {})
  }
}

/** The dependencies that the node waits for, with the reasons; empty when it is ready. */
async function missingAt({ baseUrl, fetch: ask }: ReadinessWatch): Promise<string> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
    const answer = await ask(`${baseUrl}/readyz`, { signal })
    const body = await answer.text()
    return answer.ok ? '' : unreadyIn(body)
  } catch {
    return 'it does not answer'
  }
}

/** The dependencies that are not ready, from the body of an answer of /readyz; never empty. */
export function unreadyIn(body: string): string {
  const data = recordOf(recordFrom(body)['data'])
  const dependencies: unknown = data?.['dependencies']
  if (!Array.isArray(dependencies)) return 'it does not say why'
  const unready = dependencies.map(recordOf).filter((dependency) => dependency?.['ready'] === false)
  const texts = unready.map(
    (dependency) => `${String(dependency?.['name'])}: ${String(dependency?.['detail'])}`,
  )
  return texts.length === 0 ? 'it does not say why' : onOneLine(texts.join(', '))
}
