// Delivers pushes in lanes, and gives their endings.
//
// Invariants:
//   pipeline/1. A device keeps to one lane, and a lane delivers one push at a time: so a device
//               gets its pushes in order, and lanes run side by side.

import { concatMap, groupBy, mergeMap } from 'rxjs'
import type { Observable, OperatorFunction } from 'rxjs'

import type { Push } from '#domain/push'

export interface PipelineOptions<Ending> {
  /** Gives one ending and never an error, which would end every lane. */
  readonly deliver: (push: Push) => Promise<Ending>
  readonly lanes: number
}

/** The lane of a push; ids of devices follow one another, so they spread evenly. */
export const laneOf = ({ route }: Pick<Push, 'route'>, lanes: number): number =>
  route.device % lanes

export const pipeline =
  <Ending>({ deliver, lanes }: PipelineOptions<Ending>): OperatorFunction<Push, Ending> =>
  (pushes: Observable<Push>) =>
    pushes.pipe(
      groupBy((push) => laneOf(push, lanes)),
      // The number of lanes is the cap. A cap on mergeMap would lose pushes: a lane that nobody has
      // subscribed to drops what it is sent.
      mergeMap((lane) => lane.pipe(concatMap(deliver))), // pipeline/1
    )
