// Checks after every disaster that each 200 is exactly one operation, one effect and one feed entry
// in order, and that the device knows the gateway's state.

import type { ExecutionContext } from 'ava'

import type { ChannelId } from '#domain/identity'
import { foldThing } from '#src/client/view'
import type { ThingView } from '#src/client/view'
import { createClient } from '#src/client/client'
import type { Client } from '#src/client/client'
import type { Fields } from '#domain/submission'
import { credentialsOf } from './device.ts'
import type { TestDevice } from './device.ts'
import type { Gateway } from './gateway.ts'
import { until } from './gateway.ts'
import type { Outcome } from './load.ts'
import { rounds } from '#test/support/until'

interface Entry {
  readonly seq: number
  readonly op_id: string
  readonly model: string
  readonly action: string
  readonly entity_id: string
  readonly state?: string
  readonly rev?: number
  readonly payload: Fields
}

/** Every entry of a channel's feed, by its history. */
export async function historyOf(client: Client, channelId: ChannelId): Promise<readonly Entry[]> {
  const credentials = credentialsOf(channelId)
  const entries: Entry[] = []
  const goOn = rounds()
  let cursor: string | undefined
  do {
    const page = await client.channel.history({
      ...credentials,
      limit: 200,
      ...(cursor !== undefined && { cursor }),
    })
    entries.push(...(page.items as unknown as readonly Entry[]))
    cursor = page.next_cursor
  } while (cursor !== undefined && goOn())
  return entries
}

export interface Evidence {
  readonly gateway: Gateway
  readonly channels: readonly ChannelId[]
  readonly outcomes: readonly Outcome[]
  readonly device?: TestDevice
  /** The operations that an earlier audit has seen sent; those that this one sees join them. */
  readonly sent?: Set<string>
}

/** Checks everything that must hold, whatever happened before. */
export async function audit(t: ExecutionContext, evidence: Evidence): Promise<void> {
  const { gateway, channels, outcomes, device, sent = new Set() } = evidence
  const client = createClient(gateway)
  const accepted = outcomes.flatMap(({ told }) => (told.kind === 'accepted' ? [told.opId] : []))
  const unknown = outcomes.filter(({ told }) => told.kind === 'unknown').length
  t.is(new Set(accepted).size, accepted.length, 'no op_id was given twice')
  const unseen = accepted.filter((opId) => !sent.has(opId))
  await everyOperationSent(t, client, unseen)
  for (const opId of unseen) sent.add(opId)

  let entries = 0
  const found = new Map<string, number>()
  for (const channelId of channels) {
    const history = await historyOf(client, channelId)
    entries += history.length
    const seqs = history.map(({ seq }) => seq)
    t.deepEqual(
      seqs,
      [...seqs.keys()].map((index) => index + 1),
      'seq has no hole and no repeat',
    )
    for (const { op_id } of history) found.set(op_id, (found.get(op_id) ?? 0) + 1)
    const things = foldAll(history)
    await sameThings(t, client, channelId, things)
    if (device !== undefined) await deviceKnows(t, device, { channelId, history, things })
  }
  const wrong = accepted.filter((opId) => found.get(opId) !== 1)
  t.deepEqual(wrong, [], 'every 200 is exactly one feed entry')
  t.true(
    [...found.values()].every((times) => times === 1),
    'no submission had its effect twice',
  )
  t.true(entries <= accepted.length + unknown, 'nothing came from nowhere')
}

async function everyOperationSent(
  t: ExecutionContext,
  client: Client,
  opIds: readonly string[],
): Promise<void> {
  const waiting = [...opIds]
  const unfinished: string[] = []
  const work = async (): Promise<void> => {
    for (let opId = waiting.pop(); opId !== undefined; opId = waiting.pop()) {
      const asked = opId
      const record = await until(
        () => client.status(asked),
        ({ status }) => status === 'sent' || status === 'failed',
      )
      if (record.status !== 'sent') unfinished.push(opId)
    }
  }
  await Promise.all(Array.from({ length: 16 }, work))
  t.deepEqual(unfinished, [], 'every accepted operation was sent')
}

function foldAll(history: readonly Entry[]): ReadonlyMap<string, ThingView> {
  const things = new Map<string, ThingView>()
  for (const entry of history) {
    if (entry.model !== 'thing') continue
    const change = { ...entry, entityId: entry.entity_id } as unknown as Parameters<
      typeof foldThing
    >[1]
    const after = foldThing(things.get(entry.entity_id), change)
    if (after === undefined) things.delete(entry.entity_id)
    else things.set(entry.entity_id, after)
  }
  return things
}

async function sameThings(
  t: ExecutionContext,
  client: Client,
  channelId: ChannelId,
  things: ReadonlyMap<string, ThingView>,
): Promise<void> {
  for (const [thing_id, folded] of things) {
    const kept = await client.thing.get({ ...credentialsOf(channelId), thing_id })
    t.is(kept.rev, folded.rev, `the revision of ${thing_id} counts its entries`)
    t.deepEqual({ ...kept.attrs }, { ...folded.attrs }, `${thing_id} is the fold of its entries`)
  }
}

interface Channel {
  readonly channelId: ChannelId
  readonly history: readonly Entry[]
  readonly things: ReadonlyMap<string, ThingView>
}

async function deviceKnows(
  t: ExecutionContext,
  device: TestDevice,
  { channelId, history, things }: Channel,
): Promise<void> {
  const head = history.at(-1)?.seq ?? 0
  await until(
    () => Promise.resolve(device.view.cursors().get(channelId) ?? 0),
    (cursor) => cursor >= head,
  )
  const view = device.view.things(channelId)
  const plain = (known: ReadonlyMap<string, ThingView>): object =>
    Object.fromEntries(
      [...known].map(([id, { attrs, rev, state }]) => [id, { ...attrs, rev, state }]),
    )
  t.deepEqual(plain(view), plain(things), 'the device knows every Thing as the gateway does')
  const seen = new Set((device.seen.get(channelId) ?? []).map(({ opId }) => String(opId)))
  const missed = history.filter(({ model, op_id }) => model !== 'thing' && !seen.has(op_id))
  t.deepEqual(missed, [], 'the device has seen every Message and Event')
  const seqs = (device.seen.get(channelId) ?? []).map(({ seq }) => seq)
  t.true(
    seqs.every((seq, index) => index === 0 || seq > (seqs[index - 1] ?? 0)),
    'the device sees seq grow',
  )
}
