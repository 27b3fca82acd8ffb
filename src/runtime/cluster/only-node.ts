// Gives a task to one node of the cluster at a time, by the leases that share the lanes.
//
// Invariants:
//   only-node/1. A node ends the task before another one begins it, unless its end takes longer
//                than a lease may: then the task must do no harm on two nodes.

import { KvLeases } from '#src/stream/jetstream/leases'
import type { LeaseOptions, LeasePorts } from '#src/stream/jetstream/leases'

export type OnlyNodePorts = Omit<LeasePorts, 'meter' | 'epochFloor'>

/**
 * Calls back with true when this node gets the task of that name, and with false when it loses it.
 * Resolves to a function that gives the task up.
 */
export function onOnlyNode(
  ports: OnlyNodePorts,
  { name, ...options }: Pick<LeaseOptions, 'nodeName' | 'replicas'> & { readonly name: string },
  changed: (isOurs: boolean) => Promise<void>,
): Promise<() => Promise<void>> {
  const leases = new KvLeases(
    { ...ports, meter: undefined, epochFloor: () => Promise.resolve(0) },
    { ...options, lanes: 1, name: `HELIOGRAPH_${name.toUpperCase()}` },
  )
  return leases.watch((held) => changed(held.length > 0)) // only-node/1
}
