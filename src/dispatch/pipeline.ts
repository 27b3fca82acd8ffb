// Delivers pushes in lanes, and gives their endings.
//
// Invariants:
//   pipeline/1. The pushes of a device share one lane, and a lane delivers one push at a time. So a
//               device gets its pushes in order, and lanes run concurrently.

import { concatMap, groupBy, mergeMap } from 'rxjs'
import type { Observable, OperatorFunction } from 'rxjs'

import type { Push } from '#domain/push'

export interface PipelineOptions<Ending> {
  /** Must not reject: an error would end every lane. */
  readonly deliver: (push: Push) => Promise<Ending>
  readonly lanes: number
}

/** Gives the lane of a push. The ids of devices are consecutive, so they spread evenly. */
export const laneOf = ({ route }: Pick<Push, 'route'>, lanes: number): number =>
  route.device % lanes

export const pipeline =
  <Ending>({ deliver, lanes }: PipelineOptions<Ending>): OperatorFunction<Push, Ending> =>
  (pushes: Observable<Push>) =>
    pushes.pipe(
      groupBy((push) => laneOf(push, lanes)),
      // The number of lanes bounds concurrency. A bound on mergeMap would lose pushes: a lane
      // without a subscriber drops its pushes.
      mergeMap((lane) => lane.pipe(concatMap(deliver))), // pipeline/1
    )
