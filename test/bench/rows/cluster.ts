// The rows of the cluster under Thing updates.

import { ratioRow } from './ratio.ts'
import type { Row } from './row.ts'

export const CLUSTER_ROWS: readonly Row[] = [
  ratioRow({
    name: 'accept-cluster',
    denominator: 'D1',
    goal: { kind: 'ratio-at-least', must: 0.18, aim: 0.35 },
    measured: (session) => session.accept('cluster'),
  }),
  ratioRow({
    name: 'end-to-end-cluster',
    denominator: 'D4-cluster',
    goal: { kind: 'ratio-at-least', must: 0.5, aim: 0.8 },
    measured: (session) => session.endToEnd('cluster'),
  }),
  ratioRow({
    name: 'end-to-end-split',
    denominator: 'D4-cluster',
    goal: { kind: 'ratio-at-least', must: 0.5, aim: 0.8 },
    measured: (session) => session.endToEndSplit(),
  }),
]
