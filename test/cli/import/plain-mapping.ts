import type { Mapping } from '#src/cli/import/mapping'

/** Rows name their Thing and its time; all else are attributes. */
export const PLAIN: Mapping = {
  thing: 'thing_id',
  thingId: undefined,
  time: 'observed_at',
  title: undefined,
  attrs: undefined,
  skip: new Set(),
}
