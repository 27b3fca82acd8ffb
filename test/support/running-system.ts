// A running system of actors over a log and a store in memory.

import type { ExecutionContext } from 'ava'

import type { Submission } from '#domain/submission'
import { systemOver } from '#test/support/actor-system'
import type { Over } from '#test/support/actor-system'
import { MemoryLog } from '#test/support/memory-log'
import { MemoryTurnStore } from '#test/support/memory-turn-store'
import type { StoreCall, StoreFault } from '#test/support/memory-turn-store'
import { channel, thing } from '#test/support/submissions'

export const CHANNELS = [1, 2, 3].map(channel)

export const LANES = [0, 1].map((lane) => ({ lane, epoch: 1 }))

/** A running system over lanes 0 and 1 of a log in memory; halted when the test ends. */
export async function running(
  t: ExecutionContext,
  options: Over['options'] = {},
  ticksInto?: (log: MemoryLog) => NonNullable<Over['appendTick']>,
) {
  const store = new MemoryTurnStore(CHANNELS)
  const log = new MemoryLog()
  const ticks = ticksInto && { appendTick: ticksInto(log) }
  const over = systemOver({ store, log, leases: LANES, options, ...ticks })
  await over.system.start()
  t.teardown(async () => {
    store.faultOf = () => undefined
    store.release()
    await over.system.halt()
    if (store.violations.length > 0) throw new Error(store.violations.join('; '))
  })
  return { ...over, store, log }
}

let made = 0

/** An update of a Thing that no actor remembers: its turn loads. */
export function unknownThing(): Submission {
  made += 1
  return thing('update', `unknown${made}`)
}

export const seqsOf = (store: MemoryTurnStore, number = 1): readonly number[] =>
  store.feed.filter((entry) => entry.channelId === channel(number)).map(({ seq }) => seq)

export const statusOf = (store: MemoryTurnStore, { opId: id }: Submission): string | undefined =>
  store.operations.get(id)?.errorCode ?? store.operations.get(id)?.status

/** Sets one fault for the next use of a call. Gives a function that tells whether it was met. */
export function faultOnce(
  store: MemoryTurnStore,
  call: StoreCall,
  fault: StoreFault,
): () => boolean {
  let isMet = false
  store.faultOf = (called) => {
    if (called !== call || isMet) return undefined
    isMet = true
    return fault
  }
  return () => isMet
}
