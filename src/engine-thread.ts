// The engine's thread as the front sees it: started, asked, stopped.

import { Worker } from 'node:worker_threads'

import type { Config } from './config.ts'
import type { BackingEdge } from './backing.ts'
import type { EngineControl, EngineSettings } from './engine.ts'
import { Link } from './link.ts'

export interface EngineThread {
  readonly link: Link
  readonly control: EngineControl
  /** Closes what the engine holds and ends the thread. */
  readonly stop: () => Promise<void>
}

const YOUNG_GENERATION_MB = 64

/** Resolves once the engine is ready; rejects with its sentence for the operator. */
export async function startEngineThread(
  config: Config,
  { log, onFailure }: Pick<BackingEdge, 'log' | 'onFailure'>,
): Promise<EngineThread> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: settingsOf(config),
    // Node 22 announces its SQLite as experimental; the tests of this project vouch for what is
    // used.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  const link = new Link(worker)
  let isStopping = false
  const ready = Promise.withResolvers<void>()
  link.onTell('ready', () => ready.resolve())
  link.onTell('failed', (reason) => ready.reject(new Error(String(reason))))
  const fail = (error: Error): void => {
    link.break(error)
    ready.reject(error)
    if (!isStopping) onFailure(`the engine failed: ${error.message}`)
  }
  worker.on('error', fail)
  worker.on('exit', (code) => fail(new Error(`the engine's thread ended with code ${code}`)))
  const control = link.remote<EngineControl>('engine')
  const stop = async (): Promise<void> => {
    isStopping = true
    await worker.terminate()
  }
  await ready.promise.catch(async (error: unknown) => {
    await stop()
    throw error
  })
  log.debug('the engine is ready')
  return {
    link,
    control,
    stop: async () => {
      isStopping = true
      await control.close()
      await worker.terminate()
    },
  }
}

function settingsOf(config: Config): EngineSettings {
  return {
    databaseUrl: config.databaseUrl,
    cluster: config.cluster,
    lanes: config.lanes,
    nodeId: config.nodeId,
    logLevel: config.logLevel,
    logKeepMs: config.logKeepMs,
    logBytesMax: config.logBytesMax,
    statusRetentionMs: config.statusRetentionMs,
    historyRetentionMs: config.historyRetentionMs,
  }
}
