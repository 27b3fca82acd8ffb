// The behaviour of every bus. Run by bus-contract.test.ts on each of them.

import type { ExecutionContext } from 'ava'

import type { Announcement, FeedEntry } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import { parseDeviceId, parseThingId } from '#domain/identity'
import type { Bus, Notice } from '#domain/ports'
import { until } from '#test/support/gateway'
import { channel, opId } from '#test/support/submissions'

/** Two processes on one bus; for a bus inside one process both are the same. */
export interface BusPair {
  readonly here: Bus
  readonly there: Bus
  /** Resolves once everything that was said has arrived. */
  readonly settle: () => Promise<void>
}

type Make = (t: ExecutionContext) => Promise<BusPair>
type Declare = (title: string, run: (t: ExecutionContext) => Promise<void>) => void

export function busContract(declare: Declare, make: Make): void {
  declare('bus/1: announcements of a channel arrive in order and unchanged', async (t) => {
    const { here, there, settle } = await make(t)
    const heard: Announcement[] = []
    there.listen(channel(1), (announcement) => heard.push(announcement))
    await there.flush()
    const said = Array.from({ length: 50 }, (_, number) => announcementOf(channel(1), [number + 1]))
    here.announce(said.slice(0, 20))
    here.announce(said.slice(20))
    await until(
      () => settle(),
      () => heard.length >= 50,
    )
    t.deepEqual(heard, said)
  })

  declare('only channels that somebody listens to are heard', async (t) => {
    const { here, there, settle } = await make(t)
    const heard: Announcement[] = []
    const stop = there.listen(channel(1), (announcement) => heard.push(announcement))
    await settle()
    here.announce([announcementOf(channel(2), [1]), announcementOf(channel(1), [7])])
    await until(
      () => settle(),
      () => heard.length > 0,
    )
    stop()
    await settle()
    here.announce([announcementOf(channel(1), [8])])
    await settle()
    t.deepEqual(
      heard.map(({ entries }) => entries[0]?.seq),
      [7],
    )
  })

  declare('a listener that stops does not end the listening of another', async (t) => {
    const { here, there, settle } = await make(t)
    const heard: number[] = []
    const stop = there.listen(channel(1), () => t.fail())
    there.listen(channel(1), ({ entries }) => heard.push(entries.length))
    stop()
    stop()
    await settle()
    here.announce([announcementOf(channel(1), [1, 2])])
    await until(
      () => settle(),
      () => heard.length > 0,
    )
    t.deepEqual(heard, [2])
  })

  declare('bus/2: listeners of the same process hear at once, and once', async (t) => {
    const { here, settle } = await make(t)
    let announcements = 0
    let notices = 0
    here.listen(channel(1), () => (announcements += 1))
    here.onNotice(() => (notices += 1))
    await settle()
    here.announce([announcementOf(channel(1), [1])])
    here.notify({ kind: 'applied', lane: 1, position: 2 })
    t.deepEqual([announcements, notices], [1, 1])
    await settle()
    t.deepEqual([announcements, notices], [1, 1])
  })

  declare('every kind of notice reaches every process', async (t) => {
    const { here, there, settle } = await make(t)
    const heard: Notice[] = []
    const stop = there.onNotice((notice) => heard.push(notice))
    await settle()
    for (const notice of NOTICES) here.notify(notice)
    await until(
      () => settle(),
      () => heard.length >= NOTICES.length,
    )
    t.deepEqual(heard, NOTICES)
    stop()
    here.notify({ kind: 'applied', lane: 1, position: 1 })
    await settle()
    t.is(heard.length, NOTICES.length)
  })
}

function deviceId() {
  const id = parseDeviceId('ab'.repeat(32))
  if (id === undefined) throw new Error('not a device id')
  return id
}

const NOTICES: readonly Notice[] = [
  { kind: 'applied', lane: 3, position: 17 },
  { kind: 'applied', lane: 3, position: 18, reaches: [[channel(1), 1_000]] },
  { kind: 'lane-taken', lane: 3 },
  { kind: 'pushes-queued' },
  { kind: 'leases-changed' },
  { kind: 'providers', node: 'n1', providers: 'apns,webpush' },
  { kind: 'credentials-changed', channelId: channel(1) },
  { kind: 'channel-deleted', channelId: channel(2) },
  { kind: 'channel-renamed', channelId: channel(2), channelName: 'Werk 2 灯' },
  { kind: 'mappings-changed', channelId: channel(2) },
  { kind: 'subscribed', channelId: channel(1), deviceId: deviceId() },
  { kind: 'unsubscribed', channelId: channel(1), deviceId: deviceId() },
  {
    kind: 'session-opened',
    deviceId: deviceId(),
    carrier: 'wss',
    number: 1000,
  },
]

/** An announcement of Thing updates with these seqs. */
export function announcementOf(
  channelId: ChannelId,
  seqs: readonly number[],
  payload = '{"attrs":{"text":"line\\nä 灯"}}',
): Announcement {
  return { channelId, entries: seqs.map((seq) => entryOf(channelId, { seq, payload })) }
}

function entryOf(
  channelId: ChannelId,
  { seq, payload }: { readonly seq: number; readonly payload: string },
): FeedEntry {
  const entityId = parseThingId(`lamp-${seq}`)
  if (entityId === undefined) throw new Error('not a thing id')
  return {
    channelId,
    seq,
    opId: opId(`op-${seq}`),
    model: 'thing',
    action: 'update',
    entityId,
    acceptedAt: 1000 + seq,
    state: 'active',
    rev: seq,
    payload,
  }
}
