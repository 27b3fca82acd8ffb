// Things that the store of a rig keeps, in pages as a store has them.

import type { Thing } from '#domain/entity'
import { HELD_PAUSE } from '#src/mqtt/bounds'
import type { FakeReads } from '#test/support/fake-reads'

export const NONE = { values: {}, times: undefined }
/** An attr after which an MQTT client that reads nothing is slow. */
const LARGE = { values: { t: 'x'.repeat(HELD_PAUSE) }, times: undefined }

/** Keeps things/0 and so on, the newest first. */
export function keepThings(
  { reads }: { readonly reads: FakeReads },
  count: number,
  attrs: Thing['attrs'] = LARGE,
): void {
  const same = { state: 'active', stateAt: 1, rev: 1, at: 1, changedAt: 1 } as const
  const things = Array.from({ length: count }, (_, at): Thing => {
    return { ...same, id: `${at}`, seq: count - at, fields: NONE, attrs, externalIds: NONE }
  })
  reads.things = async (query) => {
    reads.queries.push(query)
    const { before = Infinity, limit } = query
    const rest = things.filter(({ seq }) => seq < before)
    const items = rest.slice(0, limit)
    const next = rest.length > items.length ? items.at(-1)?.seq : undefined
    return next === undefined ? { items } : { items, next }
  }
}
