// Runs threads as worker threads of Node, each with its own event loop.

import { MessageChannel, MessagePort, Worker } from 'node:worker_threads'

import { THREAD_TITLE } from '#src/runtime/threads/contract'
import type { ThreadName } from '#src/runtime/threads/contract'
import type { Threads } from '#src/runtime/threads/threads'
import type { PeerWire, ThreadWire } from '#src/threads/wire'

/** A thread runs the same code as its process: the sources, or the build. */
const CONDITIONS = process.execArgv.filter((argument) => argument.startsWith('--conditions='))
/** Node 22 warns that its SQLite is experimental; the tests of this project cover its use. */
const QUIET = ['--disable-warning=ExperimentalWarning']
/**
 * Megabytes of the old generation at most. V8 lets a heap that may take 2 GB or more grow to four
 * times of what lives in it before it collects, and one that may take 1 GB to 1.6 times: with a
 * million Things, of which 73 MB lived, the process took 320 MB in place of 440, for a tenth more
 * of the processor.
 */
const OLD_GENERATION_MB: Readonly<Partial<Record<ThreadName, number>>> = {
  engine: 1_024,
  'cluster-engine': 1_024,
}

/** Worker threads of this process. */
export const workerThreads = (): Threads => ({
  wire: () => {
    const { port1, port2 } = new MessageChannel()
    return [port1, port2]
  },
  spawn: (start, onEnd) => {
    const { name, peer } = start
    const worker = new Worker(new URL(import.meta.resolve('#src/process/worker-main')), {
      workerData: start,
      transferList: peer === undefined ? [] : portsIn(peer),
      execArgv: [...CONDITIONS, ...QUIET],
      resourceLimits: { maxOldGenerationSizeMb: OLD_GENERATION_MB[name] },
    })
    worker.on('error', onEnd)
    worker.on('exit', (code) => {
      onEnd(new Error(`the thread of the ${THREAD_TITLE[name]} ended with code ${code}`))
    })
    const wire: ThreadWire = {
      postMessage: (message) => worker.postMessage(message),
      on: (event, listener) => worker.on(event, listener),
      hand: (message, end) => worker.postMessage(message, portsIn(end)),
    }
    return { wire, terminate: () => worker.terminate() }
  },
})

const portsIn = (end: PeerWire): MessagePort[] => (end instanceof MessagePort ? [end] : [])
