// The rows of the cluster under Thing updates.

import { ratioRow } from './ratio.ts'
import type { Row } from './row.ts'

const ACCEPT = { kind: 'ratio-at-least', must: 0.18, aim: 0.35 } as const
const END_TO_END = { kind: 'ratio-at-least', must: 0.55, aim: 0.8 } as const

/** The layout that suits few cores has the plain name. */
const LAYOUT_NAMES = { split: 'cluster', even: 'even' } as const

export const CLUSTER_ROWS: readonly Row[] = (['split', 'even'] as const).flatMap((layout) => [
  ratioRow({
    name: `accept-${LAYOUT_NAMES[layout]}`,
    denominator: 'D1',
    goal: ACCEPT,
    planned: (session) => session.accept('cluster', layout),
  }),
  ratioRow({
    name: `end-to-end-${LAYOUT_NAMES[layout]}`,
    denominator: 'D4-cluster',
    goal: END_TO_END,
    planned: (session) => session.endToEnd('cluster', layout),
  }),
])
