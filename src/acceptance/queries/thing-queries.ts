// Answers queries about the Things of a channel, between requests. (src/queries)

import type { ChannelId } from '#domain/identity'
import type { Answer, NowMs } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { Meter } from '#domain/telemetry'
import type { ScanStore, Scanned } from '#domain/things/scan'
import { Looking } from '#src/queries/looking'
import type { QueryResult } from '#src/queries/looking'
import type { ThingQuery } from '#src/queries/query'
import { FewAtOnce, inSlices } from './few-at-once.ts'

export interface QueryPorts {
  readonly read: ScanStore
  readonly nowMs: NowMs
  readonly soon: Runtime['soon']
  readonly meter: Meter
}

/** Queries that run at a time: some 2 ms of each stand between two requests. */
export const QUERIES_MAX = 4
export const QUERIES_OF_CHANNEL_MAX = 2
/** Things that a job of the store gives: they take it a millisecond or two. */
const SCANNED_MAX = 500

export class ThingQueries {
  readonly #ports: QueryPorts
  readonly #few = new FewAtOnce({
    ofChannel: QUERIES_OF_CHANNEL_MAX,
    max: QUERIES_MAX,
    what: 'queries',
    retryAfterMs: 1_000,
  })

  constructor(ports: QueryPorts) {
    this.#ports = ports
    ports.meter.gauge('thing_queries', {}, () => this.#few.running)
  }

  /** Returns a page of a query; rate_limited or server_busy beyond bounds. */
  run(channelId: ChannelId, query: ThingQuery, limit: number): Promise<Answer<QueryResult>> {
    return this.#few.run(channelId, () => this.#look(channelId, query, limit))
  }

  async #look(
    channelId: ChannelId,
    query: ThingQuery,
    limit: number,
  ): Promise<Answer<QueryResult>> {
    const { read, nowMs, soon } = this.#ports
    const looking = new Looking(query, { limit, nowMs: nowMs() })
    for (let scan = looking.nextScan; scan !== undefined; scan = looking.nextScan) {
      const scanned: Scanned = await read.scan({ ...scan, channelId, limit: SCANNED_MAX })
      await inSlices(soon, looking, looking.take(scanned))
    }
    return looking.result()
  }
}

/** The same query for somebody who may only read Things whose id begins with a text. */
export function narrowed(query: ThingQuery, prefix: string): ThingQuery | undefined {
  if (query.prefix.startsWith(prefix)) return query
  return prefix.startsWith(query.prefix) ? { ...query, prefix } : undefined
}

/** The answer of a query that asks for none of the Things that its caller may read. */
export const nothingOf = ({ isCounted, grouping }: ThingQuery): QueryResult => ({
  items: [],
  ...(isCounted && { total: 0 }),
  ...(grouping !== undefined && { groups: [] }),
  ...((isCounted || grouping !== undefined) && { isComplete: true }),
})
