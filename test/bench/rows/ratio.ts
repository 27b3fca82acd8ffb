// Rows that divide a knee of the product by a denominator's.

import type { DenominatorId, Goal, Row } from './row.ts'
import { detailsOf } from './session.ts'
import type { Measured, Session } from './session.ts'

interface RatioRow {
  readonly name: string
  readonly denominator: DenominatorId
  readonly goal: Goal
  readonly measured: (session: Session) => Promise<Measured>
}

/** A row that divides a knee by a denominator's knee. */
export const ratioRow = ({ name, denominator, goal, measured }: RatioRow): Row => ({
  name,
  denominators: [denominator],
  async measure(session) {
    const below = await session.denominator(denominator)
    const product = await measured(session)
    const failure = product.failure ?? below.failure
    return [
      {
        row: name,
        unit: 'submissions/s',
        value: product.knee,
        denominator: { id: denominator, value: below.knee },
        goal,
        details: { ...detailsOf(product), denominatorDetails: detailsOf(below) },
        ...(failure !== undefined && { failure }),
      },
    ]
  },
})
