// The rows of the cluster under Thing updates.

import { ratioRow } from './ratio.ts'
import type { Row } from './row.ts'

const ACCEPT = { kind: 'ratio-at-least', must: 0.18, aim: 0.35 } as const
const END_TO_END = { kind: 'ratio-at-least', must: 0.5, aim: 0.8 } as const

export const CLUSTER_ROWS: readonly Row[] = [
  ratioRow({
    name: 'accept-cluster',
    denominator: 'D1',
    goal: ACCEPT,
    planned: (session) => session.accept('cluster', 'split'),
  }),
  ratioRow({
    name: 'accept-even',
    denominator: 'D1',
    goal: ACCEPT,
    planned: (session) => session.accept('cluster', 'even'),
  }),
  ratioRow({
    name: 'end-to-end-cluster',
    denominator: 'D4-cluster',
    goal: END_TO_END,
    planned: (session) => session.endToEnd('cluster', 'split'),
  }),
  ratioRow({
    name: 'end-to-end-even',
    denominator: 'D4-cluster',
    goal: END_TO_END,
    planned: (session) => session.endToEnd('cluster', 'even'),
  }),
]
