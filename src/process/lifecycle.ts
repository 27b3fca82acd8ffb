// The life of a gateway process: settings, start, and a stop that loses nothing.

import { readlink } from 'node:fs/promises'
import { getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'

import type { Runtime } from '#domain/runtime'
import type { Logger } from '#domain/telemetry'
import { ConfigError, configFrom } from '#src/config/config'
import type { Config, Env } from '#src/config/config'
import { TOKEN_CHARACTERS_MIN, hasWeakToken } from '#src/config/ports'
import { unknownSettings } from '#src/config/unknown-settings'
import { returnMemoryWhenQuiet } from './heap.ts'
import { startServer } from '#src/runtime/gateway'
import type { Server } from '#src/runtime/gateway'
import { createLogger } from '#src/telemetry/logger'
import { openingLine } from './opening-line.ts'
import { workerThreads } from './worker-threads.ts'
import { systemRuntime } from './system-runtime.ts'

const MISCONFIGURED = 78
const FAILED = 1
/** Supervisors signal a process and its group, so one request to stop may come twice. */
const SAME_REQUEST_MS = 500

/**
 * Runs a gateway until SIGTERM or SIGINT, or until it cannot go on. SIGHUP reloads certificates.
 * Returns the exit code: 0 after a stop that answered, applied and said goodbye; 78 for a setting
 * that cannot be used; 1 for anything else.
 */
export async function serve(env: Env): Promise<number> {
  const runtime = systemRuntime()
  const config = settingsOrSentence(env, runtime)
  if (typeof config === 'string') {
    process.stderr.write(`${config}\n`)
    return MISCONFIGURED
  }
  const logger = createLogger({ level: config.logLevel, base: { node: config.nodeId } })
  const stopped = Promise.withResolvers<number>()
  onLastResort(logger)
  for (const name of unknownSettings(env)) {
    logger.warn('this is no setting of the gateway', { name })
  }
  if (hasWeakToken(config)) {
    logger.warn('SERVICE_TOKEN can be guessed, and other computers reach a listener', {
      charactersMin: TOKEN_CHARACTERS_MIN,
    })
  }
  await lowerPoolPriority()
  try {
    const server = await startServer(config, {
      logger,
      runtime,
      threads: workerThreads(),
      onFailure: (reason) => {
        logger.error('the gateway cannot go on', { reason })
        process.exit(FAILED)
      },
    })
    onSignal(server, { config, logger, runtime, stopped })
    process.on('SIGHUP', () => void server.reload())
    // Whoever reads this line may send signals: now each of them does what it should.
    logger.info('listening', server.listening)
    if (process.stderr.isTTY) process.stderr.write(openingLine(config, server.port))
    returnMemoryWhenQuiet(runtime)
  } catch (error) {
    logger.error('the gateway did not start', { reason: sentenceOf(error) })
    // Stages that were made before the failure have timers, and a process with timers never ends.
    process.exit(FAILED)
  }
  const code = await stopped.promise
  // Libraries may hold handles that keep the loop alive; everything of ours is closed by now.
  process.exit(code)
}

function settingsOrSentence(env: Env, runtime: Runtime): Config | string {
  try {
    return configFrom(env, runtime)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
}

interface Stopping {
  readonly config: Config
  readonly logger: Logger
  readonly runtime: Pick<Runtime, 'after' | 'monotonicMs'>
  readonly stopped: { readonly resolve: (code: number) => void }
}

/** The first signal stops gently, a second one or the end of the drain time at once. */
function onSignal(server: Server, { config, logger, runtime, stopped }: Stopping): void {
  let stoppingSinceMs: number | undefined
  const stop = (signal: string): void => {
    if (stoppingSinceMs !== undefined) {
      if (runtime.monotonicMs() - stoppingSinceMs < SAME_REQUEST_MS) return
      logger.warn('stopping at once', { signal })
      process.exit(FAILED)
    }
    stoppingSinceMs = runtime.monotonicMs()
    logger.info('stopping', { signal })
    const cancelBound = runtime.after(config.drainTimeoutMs, () => {
      logger.error(
        'the stop took too long; the log keeps what is left, and the next start applies it',
      )
      stopped.resolve(FAILED)
    })
    server.stop().then(
      () => {
        cancelBound()
        logger.info('stopped')
        stopped.resolve(0)
      },
      (error: unknown) => {
        logger.error('the stop failed', { reason: sentenceOf(error) })
        stopped.resolve(FAILED)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** Logs an error that nobody caught and ends the process: the next start applies the log. */
function onLastResort(logger: Logger): void {
  const fail = (error: unknown): void => {
    logger.error('an error that nobody caught', {
      reason: sentenceOf(error),
      stack: stackOf(error),
    })
    process.exit(FAILED)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
}

const sentenceOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Frames only: the first line of a stack repeats the message, which may hold secrets. */
const stackOf = (error: unknown): readonly string[] =>
  error instanceof Error ? (error.stack ?? '').split('\n').slice(1, 12) : []

/** libuv's default, unless UV_THREADPOOL_SIZE says otherwise. */
const POOL_THREADS = 4
const ROUNDS_MAX = 20
/**
 * Leaves a tenth of the share of a thread with the usual priority, so that passwords never stop.
 */
const LOWERED_BY = 10
const LOWEST = 19

/**
 * Lowers the priority of libuv's threads, which compute passwords, below the threads that take
 * requests and apply them: with equal priority, many wrong passwords made a turn take four times as
 * long on two cores. It does so on Linux, where each thread has its own. Changes
 * nothing elsewhere, or where the process may not. Gives the threads' ids.
 */
export async function lowerPoolPriority(): Promise<readonly number[]> {
  const threads = await poolThreads().catch(() => [])
  return threads.filter((thread) => {
    try {
      setPriority(thread, Math.min(LOWEST, getPriority() + LOWERED_BY))
      return true
    } catch {
      return false // The system does not allow it; passwords are computed all the same.
    }
  })
}

/** A thread that reads /proc/thread-self tells its id; enough reads at once reach every thread. */
async function poolThreads(): Promise<readonly number[]> {
  const threads = new Set<number>()
  for (let round = 0; round < ROUNDS_MAX && threads.size < POOL_THREADS; round += 1) {
    const links = Array.from({ length: POOL_THREADS }, () => readlink('/proc/thread-self'))
    for (const link of await Promise.all(links)) threads.add(Number(basename(link)))
  }
  return [...threads]
}
