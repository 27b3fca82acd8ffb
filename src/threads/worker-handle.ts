// A thread of this process as the frontend sees it: started, asked, stopped.

import { Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import type { BackendEdge } from '#src/runtime/backend'
import type { Config } from '#src/config/config'
import type { ThreadSettings } from '#src/runtime/engine/contract'
import { Rpc } from './rpc.ts'

/** What a thread is started with. */
export interface ThreadStart {
  readonly name: 'engine' | 'log'
  readonly settings: ThreadSettings
  /** The way to the process's other thread, where there is one. */
  readonly peer?: MessagePort
}

export interface Thread<Control> {
  readonly rpc: Rpc
  readonly control: Control
  /** Closes what the thread holds and ends it. */
  readonly stop: () => Promise<void>
}

const YOUNG_GENERATION_MB = 64

/** Resolves once the thread is ready; rejects with its sentence for the operator. */
export async function startThread<Control extends { close(): Promise<void> }>(
  start: ThreadStart,
  { log, onFailure }: Pick<BackendEdge, 'log' | 'onFailure'>,
): Promise<Thread<Control>> {
  const { name, peer } = start
  const worker = new Worker(new URL('./worker-main.ts', import.meta.url), {
    workerData: start,
    transferList: peer === undefined ? [] : [peer],
    // Node 22 announces its SQLite as experimental; the tests of this project vouch for what is
    // used.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  const rpc = new Rpc(worker)
  let isStopping = false
  const ready = Promise.withResolvers<void>()
  rpc.onTell('ready', () => ready.resolve())
  rpc.onTell('failed', (reason) => ready.reject(new Error(String(reason))))
  const fail = (error: Error): void => {
    rpc.break(error)
    ready.reject(error)
    if (!isStopping) onFailure(`the ${name} failed: ${error.message}`)
  }
  rpc.onTell('ended', (reason) => fail(new Error(String(reason))))
  worker.on('error', fail)
  worker.on('exit', (code) => fail(new Error(`the thread of the ${name} ended with code ${code}`)))
  const control = rpc.remote<Control>('control')
  const stop = async (): Promise<void> => {
    isStopping = true
    await worker.terminate()
  }
  await ready.promise.catch(async (error: unknown) => {
    await stop()
    throw error
  })
  log.debug(`the ${name} is ready`)
  return {
    rpc,
    control,
    stop: async () => {
      isStopping = true
      await control.close()
      await worker.terminate()
    },
  }
}

/** Of the settings what threads need. */
export function threadSettings(config: Config): ThreadSettings {
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
