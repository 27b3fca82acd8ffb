// The behaviour of all lane leases. Run by leases-contract.test.ts on each of them.

import type { ExecutionContext } from 'ava'

import type { Lease } from '#domain/lane'
import type { LaneLeases } from '#domain/ports'
import { until } from '#test/support/gateway'

export const LANES = 16

/** A process that takes part. */
export interface Member {
  /** The leases that it holds now. */
  readonly held: readonly Lease[]
  /** Every list it was told of. */
  readonly told: readonly (readonly Lease[])[]
  leave(): Promise<void>
}

/**
 * The places where processes meet: their leases, and the greatest epoch that their database knows.
 */
export interface Meeting {
  join(name: string): Promise<LaneLeases>
  readonly epochs: { last: number }
}

type Make = (t: ExecutionContext) => Promise<Meeting>
type Declare = (title: string, run: (t: ExecutionContext) => Promise<void>) => void

export function leasesContract(declare: Declare, make: Make): void {
  declare('a process alone holds every lane once', async (t) => {
    const one = await joined(t, await make(t), 'one')
    await holds(one, LANES)
    t.deepEqual(
      one.held.map(({ lane }) => lane).toSorted((a, b) => a - b),
      [...Array.from({ length: LANES }).keys()],
    )
  })

  declare('a later owner of a lane has a greater epoch than all before it', async (t) => {
    const meeting = await make(t)
    const before = new Map<number, number>()
    for (const name of ['one', 'two', 'one']) {
      const member = await joined(t, meeting, name)
      await holds(member, LANES)
      for (const { lane, epoch } of member.held) {
        t.true(epoch > (before.get(lane) ?? 0))
        before.set(lane, epoch)
      }
      await member.leave()
    }
  })

  declare('a database that knows greater epochs gets still greater ones', async (t) => {
    const meeting = await make(t)
    meeting.epochs.last = 1_000_000
    const one = await joined(t, meeting, 'one')
    await holds(one, LANES)
    t.true(one.held.every(({ epoch }) => epoch > 1_000_000))
  })
}

/** A process that has joined; it leaves with the test. */
export async function joined(t: ExecutionContext, meeting: Meeting, name: string): Promise<Member> {
  const leases = await meeting.join(name)
  const told: (readonly Lease[])[] = []
  const stop = await leases.watch((held) => {
    told.push(held)
    // The owner of the lanes does so with a lease: the database knows its epoch from then on.
    for (const { epoch } of held) meeting.epochs.last = Math.max(meeting.epochs.last, epoch)
  })
  let leaving: Promise<void> | undefined
  const leave = (): Promise<void> => (leaving ??= stop())
  t.teardown(leave)
  return {
    told,
    leave,
    get held() {
      return told.at(-1) ?? []
    },
  }
}

/** Waits until a member holds so many lanes. */
export const holds = (member: Member, lanes: number): Promise<unknown> =>
  until(
    () => Promise.resolve(member.held),
    (held) => held.length === lanes,
  )
