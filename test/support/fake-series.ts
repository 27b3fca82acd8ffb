// Series, in memory.

import type { SeriesFound, SeriesQuery, SeriesStore } from '#domain/history/series'

export class FakeSeries implements SeriesStore {
  readonly queries: SeriesQuery[] = []
  found: SeriesFound = { attrs: {} }

  async series(query: SeriesQuery): Promise<SeriesFound> {
    this.queries.push(query)
    return this.found
  }
}
