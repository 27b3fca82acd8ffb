// Delivers pushes in queues by device, and returns their endings.
//
// Invariants:
//   device-queues/1. The pushes of a device share one queue, and a queue delivers one push at a
//     time. So a device gets its pushes in order, and queues run concurrently.

import { concatMap, groupBy, mergeMap } from 'rxjs'
import type { Observable, OperatorFunction } from 'rxjs'

import type { Push } from '#domain/push'

interface DeviceQueues<Ending> {
  /** Must not reject: an error would end every queue. */
  readonly deliver: (push: Push) => Promise<Ending>
  readonly queues: number
}

/** Returns the queue of a push. The ids of devices are consecutive, so they spread evenly. */
export const queueOf = ({ route }: Pick<Push, 'route'>, queues: number): number =>
  route.device % queues

export const deliverInQueues =
  <Ending>({ deliver, queues }: DeviceQueues<Ending>): OperatorFunction<Push, Ending> =>
  (pushes: Observable<Push>) =>
    pushes.pipe(
      groupBy((push) => queueOf(push, queues)),
      // The number of queues bounds concurrency. A bound on mergeMap would lose pushes: a queue
      // without a subscriber drops its pushes.
      mergeMap((queue) => queue.pipe(concatMap(deliver))), // device-queues/1
    )
