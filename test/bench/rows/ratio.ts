// Rows that divide a knee of the product by a denominator's.

import { detailsOf, divided } from './measured.ts'
import type { SubjectId, Goal, Row } from './row.ts'
import type { Plan, Session } from './session.ts'

interface RatioRow {
  readonly name: string
  readonly denominator: SubjectId
  readonly goal: Goal
  readonly planned: (session: Session) => Plan
}

/** A row that divides a knee by a denominator's knee. */
export const ratioRow = ({ name, denominator, goal, planned }: RatioRow): Row => ({
  name,
  async measure(session) {
    const [product, below] = await session.compare(planned(session), denominator)
    const failure = product.failure ?? below.failure
    return [
      {
        row: name,
        unit: 'submissions/s',
        value: product.knee,
        denominator: { id: denominator, value: below.knee, ratio: divided(product, below) },
        goal,
        details: { ...detailsOf(product), denominatorDetails: detailsOf(below) },
        ...(failure !== undefined && { failure }),
      },
    ]
  },
})
