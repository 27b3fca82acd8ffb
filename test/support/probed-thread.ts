// Loaded before a process: counts in each of its threads the functions that it calls and the bytes
// that it allocates, at the orders of another process. (test/support/thread-probe.ts)
//
// The main thread is connected to whoever asks. It hands each order to the other threads, and tells
// what they answer.

import { Session } from 'node:inspector'
import type { HeapProfiler, Profiler } from 'node:inspector'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { GCProfiler, getHeapStatistics } from 'node:v8'
import { BroadcastChannel, isMainThread, workerData } from 'node:worker_threads'

/** An order to every thread. */
export type Order =
  /** Answers once everything that came before it is done. */
  | { readonly kind: 'rest' }
  /** The clock stands still from now on, and no timer of HELD_DELAY_MS or more runs. */
  | { readonly kind: 'hold'; readonly atMs: number }
  /** The clock goes on, and what was to run once meanwhile runs. */
  | { readonly kind: 'release' }
  /** Stops a thread in the middle of its work, until the next `continue`. */
  | { readonly kind: 'stop'; readonly thread: string }
  | { readonly kind: 'continue' }
  /** Collects garbage. Calls and bytes count from here on. */
  | { readonly kind: 'mark' }
  /** Tells what was called and allocated since the mark. */
  | { readonly kind: 'read' }
  /** Samples allocations, one in so many bytes on average. */
  | { readonly kind: 'sample'; readonly everyBytes: number }
  /** Tells what was sampled, and ends it. */
  | { readonly kind: 'sites' }

/** Calls of a function. Where several have no name, they differ in their place. */
export interface Calls {
  readonly url: string
  readonly name: string
  readonly offset: number
  readonly calls: number
}

/** What a thread did since the mark. */
export interface Reading {
  /** Of the heap, without what lies outside of it; not true when something was collected. */
  readonly bytes: number
  readonly collections: number
  readonly functions: readonly Calls[]
}

/** Bytes that a function allocated by itself. */
export interface Site {
  readonly url: string
  readonly name: string
  readonly line: number
  /** The function of the process's own files that called it; empty for one of these. */
  readonly caller: string
  readonly bytes: number
}

export interface Answers {
  readonly rest: null
  readonly hold: null
  readonly release: null
  readonly stop: null
  readonly continue: null
  readonly mark: null
  readonly read: Reading
  readonly sample: null
  readonly sites: readonly Site[]
}

export interface Asked {
  readonly id: number
  readonly order: Order
  /** A stopped thread waits until its number is not 0 any more. */
  readonly gate: Int32Array
}

export interface Answered {
  readonly id: number
  readonly thread: string
  readonly answer: unknown
}

/** What is done at intervals belongs to no request; a shorter delay is a part of one. */
const HELD_DELAY_MS = 50
const TURNS_OF_REST = 5
const NAME = 'heliograph-thread-probe'

const session = new Session()
session.connect()

/** Runs a method of the inspector. Those of this file but `collectGarbage` answer at once. */
function inspect<Result>(method: string, parameters: object = {}): Result {
  let result: unknown
  session.post(method, parameters, (error, answer) => {
    if (error !== null) throw error
    result = answer
  })
  return result as Result
}

let heldAtMs: number | undefined
let missed: (() => void)[] = []

/** Puts in place of the clock and the timers those that can be held. */
function holdable(): void {
  const { now } = Date
  Date.now = () => heldAtMs ?? now()
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const set = globalThis[name] as (run: () => void, delayMs: number) => unknown
    const setHoldable = (run: (...words: unknown[]) => void, delayMs = 0, ...words: unknown[]) =>
      set(() => {
        if (heldAtMs === undefined || delayMs < HELD_DELAY_MS) run(...words)
        else if (name === 'setTimeout') missed.push(() => run(...words))
      }, delayMs)
    Object.assign(globalThis, {
      [name]: Object.defineProperties(setHoldable, Object.getOwnPropertyDescriptors(set)),
    })
  }
}

function release(): void {
  heldAtMs = undefined
  const due = missed
  missed = []
  for (const run of due) run()
}

async function rest(): Promise<void> {
  for (let turn = 0; turn < TURNS_OF_REST; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const usedBytes = (): number => getHeapStatistics().used_heap_size

let collections = new GCProfiler()
let markBytes = 0

async function mark(): Promise<void> {
  inspect('Profiler.enable')
  inspect('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  inspect('Profiler.takePreciseCoverage') // It begins to count anew.
  await new Promise((resolve) => session.post('HeapProfiler.collectGarbage', resolve))
  collections = new GCProfiler()
  collections.start()
  markBytes = usedBytes()
}

function read(): Reading {
  const bytes = usedBytes() - markBytes
  const { length } = collections.stop().statistics
  const { result } = inspect<Profiler.TakePreciseCoverageReturnType>('Profiler.takePreciseCoverage')
  inspect('Profiler.stopPreciseCoverage')
  const functions = result.flatMap(({ url, functions: all }) =>
    all.map(({ functionName: name, ranges: [range] }) => ({
      url,
      name,
      offset: range?.startOffset ?? 0,
      calls: range?.count ?? 0,
    })),
  )
  return { bytes, collections: length, functions: functions.filter(({ calls }) => calls > 0) }
}

/** Samples include what was collected since: all that was allocated, not what is left of it. */
const sample = (everyBytes: number): unknown =>
  inspect('HeapProfiler.startSampling', {
    samplingInterval: everyBytes,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  })

const isOwn = (url: string): boolean => url.startsWith('file:') && !url.includes('/node_modules/')

function sites(): readonly Site[] {
  const { profile } = inspect<HeapProfiler.StopSamplingReturnType>('HeapProfiler.stopSampling')
  const found = new Map<string, Site>()
  const visit = (node: HeapProfiler.SamplingHeapProfileNode, above: string): void => {
    const { url, functionName: name, lineNumber } = node.callFrame
    const caller = isOwn(url) ? '' : above
    const key = `${url}:${lineNumber}:${name}:${caller}`
    const bytes = (found.get(key)?.bytes ?? 0) + node.selfSize
    if (bytes > 0) found.set(key, { url, name, line: lineNumber + 1, caller, bytes })
    for (const child of node.children) visit(child, isOwn(url) ? name : above)
  }
  visit(profile.head, '')
  return [...found.values()]
}

async function obey(order: Order): Promise<unknown> {
  switch (order.kind) {
    case 'rest':
      return rest()
    case 'hold':
      heldAtMs = order.atMs
      return undefined
    case 'release':
      return release()
    case 'stop':
    case 'continue':
      return undefined
    case 'mark':
      return mark()
    case 'read':
      return read()
    case 'sample':
      return sample(order.everyBytes)
    case 'sites':
      return sites()
  }
}

interface Said extends Event {
  readonly data: Asked | Answered
}

interface ThreadStart {
  readonly name?: string
}

const thread = isMainThread ? 'main' : String((workerData as ThreadStart | null)?.name)

async function answerTo(asked: Asked): Promise<Answered> {
  return { id: asked.id, thread, answer: (await obey(asked.order)) ?? null }
}

holdable()
const others = new BroadcastChannel(NAME)
others.unref()
const hear = (take: (said: Asked | Answered) => void): void =>
  others.addEventListener('message', (event) => take((event as Said).data))

if (isMainThread) {
  const socket = connect(new URL(import.meta.url).searchParams.get('socket') ?? '')
  socket.unref()
  socket.on('error', () => undefined) // Nobody asks any more.
  const tell = (said: Answered): void => void socket.write(`${JSON.stringify(said)}\n`)
  let gate = new Int32Array(new SharedArrayBuffer(4))
  createInterface({ input: socket }).on('line', (line) => {
    const { id, order } = JSON.parse(line) as Pick<Asked, 'id' | 'order'>
    if (order.kind === 'stop') gate = new Int32Array(new SharedArrayBuffer(4))
    if (order.kind === 'continue') {
      Atomics.store(gate, 0, 1)
      Atomics.notify(gate, 0)
    }
    others.postMessage({ id, order, gate })
    void answerTo({ id, order, gate }).then(tell)
  })
  hear((said) => tell(said as Answered))
} else {
  hear((said) => {
    if (!('order' in said)) return // What other threads answer comes here too.
    const { order, gate } = said
    void answerTo(said).then((answered) => {
      others.postMessage(answered)
      if (order.kind === 'stop' && order.thread === thread) Atomics.wait(gate, 0, 0)
    })
  })
}
