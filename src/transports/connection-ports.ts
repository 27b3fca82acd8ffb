// What a connection needs beside its carrier and its session.

import type { CarrierName } from '#domain/carrier'
import type { SessionAdmission } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { DeviceStore, ReadStore, SubscriptionStore } from '#domain/store-ports'
import type { Logger } from '#domain/telemetry'
import type { Acknowledgements } from './acknowledgements.ts'
import type { Held } from './held.ts'
import type { ChannelListeners } from './channel-listeners.ts'
import type { Reads } from './reads.ts'

/**
 * What all connections of a process share. Deadlines and heartbeats go by `monotonicMs`; devices
 * are told `nowMs`, by which nothing is measured.
 */
export interface ConnectionPorts<Connection> extends Pick<
  Runtime,
  'nowMs' | 'monotonicMs' | 'random' | 'soon'
> {
  readonly devices: Pick<DeviceStore, 'numberSession'>
  readonly subscriptions: Pick<SubscriptionStore, 'positions' | 'position'>
  readonly feed: Pick<ReadStore, 'catchUp'>
  readonly logger: Logger
  /** Decides who may have a session. */
  readonly admission: SessionAdmission
  readonly listeners: ChannelListeners<Connection>
  readonly held: Held
  readonly reads: Reads
  readonly acknowledgements: Acknowledgements
  readonly delivered: Record<'live' | 'replay', (by?: number) => void>
  /** Counts a session that the gateway ends. `reason` is one of its own words. */
  readonly ended: (carrier: CarrierName, reason: string) => void
  /** From now on the connection hears what happens to the subscriptions of its device. */
  identified(connection: Connection): void
  /** The session begins; an older one of the same device and carrier ends. */
  begun(connection: Connection): void
  left(connection: Connection): void
}
