// The ports of a connection, beside its carrier and its session.

import type { CarrierName } from '#domain/carrier'
import type { Limiter } from '#domain/bounds/limiter'
import type { SessionAdmission } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { DeviceStore, ReadStore, SubscriptionStore } from '#domain/store-ports'
import type { Logger } from '#domain/telemetry'
import type { Acknowledgements } from './acknowledgements.ts'
import type { Held } from './held.ts'
import type { ChannelListeners } from './channel-listeners.ts'
import type { Ticked, Ticks } from './ticks.ts'

/**
 * Ports that all connections of a process share. Deadlines and heartbeats use `monotonicMs`;
 * `nowMs` is only for messages to devices.
 */
export interface ConnectionPorts<Connection extends Ticked<Connection>> extends Pick<
  Runtime,
  'nowMs' | 'monotonicMs' | 'random' | 'soon'
> {
  readonly devices: Pick<DeviceStore, 'numberSession'>
  readonly subscriptions: Pick<SubscriptionStore, 'positions' | 'position'>
  readonly feed: Pick<ReadStore, 'catchUp'>
  readonly logger: Logger
  /** Decides which device may have a session. */
  readonly admission: SessionAdmission
  readonly listeners: ChannelListeners<Connection>
  readonly held: Held
  readonly reads: Limiter
  readonly ticks: Ticks<Connection>
  readonly acknowledgements: Acknowledgements
  /** A random name for a session. */
  readonly newSessionId: () => string
  readonly delivered: Record<'live' | 'replay', (by?: number) => void>
  /** Counts a session that the gateway ends; the gateway has few reasons. */
  readonly ended: (carrier: CarrierName, reason: string) => void
  /**
   * Called when the device is known: from then on the connection gets changes to its
   * subscriptions.
   */
  identified(connection: Connection): void
  /** Called when the session begins; an older one of the same device and carrier ends. */
  begun(connection: Connection): void
  left(connection: Connection): void
}
