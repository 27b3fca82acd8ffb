// Opens the database and gives its ports, one for each stage that uses it.

import type { LeaseTable, Probe } from '#domain/ports'
import type { PushRules, PushStore } from '#domain/push'
import type { JoiningStore, MergingStore, RetentionStore } from '#domain/retention-ports'
import type { TurnStore } from '#domain/store-ports'
import type { Meter } from '#domain/telemetry'
import { AuthorizationRecords } from './assistants/authorization.ts'
import { Bindings } from './assistants/bindings.ts'
import { ChannelKeys } from './administration/channel-keys.ts'
import { Channels } from './administration/channels.ts'
import type { Database } from './jobs/database.ts'
import { DeadLetters } from './administration/dead-letters.ts'
import { Devices } from './administration/devices.ts'
import { tablesFor } from './entities/tables.ts'
import type { Tables } from './entities/tables.ts'
import { openDatabase, probeOf } from './opening.ts'
import type { OpeningOptions } from './opening.ts'
import { Hooks } from './administration/hooks.ts'
import { Mappings } from './administration/mappings.ts'
import { MqttSessions } from './administration/mqtt-sessions.ts'
import { Presentations } from './administration/presentations.ts'
import { Operations } from './turns/operations.ts'
import { Pushes } from './pushes/pushes.ts'
import { Reading } from './feed/reading.ts'
import { Joining } from './retention/joining.ts'
import { Merging } from './tiers/merging.ts'
import { SeriesReading } from './tiers/series.ts'
import { Retention } from './retention/retention.ts'
import { Rules } from './administration/rules.ts'
import { secretsOn } from './administration/secrets.ts'
import { Subscriptions } from './administration/subscriptions.ts'
import { Leases } from './turns/leases.ts'
import type { LeaseRange } from './turns/leases.ts'
import { turnsOn } from './turns/turns.ts'

/**
 * The stores that ingress and sessions use. This is the one list of them: the services of the
 * engine, their remotes and the stores of the backend are derived from it.
 */
export const frontendStoresOn = (database: Database, tables: Tables, meter: Meter) => ({
  channels: new Channels(database, tables),
  channelKeys: new ChannelKeys(database, tables),
  authorization: new AuthorizationRecords(database, tables),
  bindings: new Bindings(database, tables),
  devices: new Devices(database, tables),
  subscriptions: new Subscriptions(database, tables),
  mqttSessions: new MqttSessions(database, tables),
  mappings: new Mappings(database, tables),
  presentations: new Presentations(database, tables),
  hooks: new Hooks(database, tables),
  secrets: secretsOn(database),
  read: new Reading(database),
  series: new SeriesReading(database, meter),
  operations: new Operations(database, tables),
  rules: new Rules(database),
  deadLetters: new DeadLetters(database),
})

/** The methods of a store, which its remote in another thread has too. */
type PortOf<One> = { [Method in keyof One]: One[Method] }
type MadeStores = ReturnType<typeof frontendStoresOn>
export type FrontendStores = { readonly [Name in keyof MadeStores]: PortOf<MadeStores[Name]> }

export interface Store extends FrontendStores {
  readonly turns: TurnStore
  /** The rows by which nodes of a cluster share lanes. */
  readonly leases: (range: LeaseRange) => LeaseTable
  readonly retention: RetentionStore
  readonly joining: JoiningStore
  readonly merging: MergingStore
  /** The stores of the list above, and nothing else. */
  readonly frontend: FrontendStores
  /** The jobs of dispatch. */
  readonly pushes: PushStore
  readonly probe: Probe
  /** Closes after the waiting jobs. */
  close(): Promise<void>
}

interface StoreOptions extends OpeningOptions {
  /**
   * The rules by which turns make push jobs, and by which operations end; absent when no pushes are
   * made.
   */
  readonly pushes?: PushRules | undefined
  /** False when numbers of Things are kept in no tier; true by default. */
  readonly hasTiers?: boolean
}

/**
 * Opens or makes the database and brings its tables up to date. Waits for a database that is away.
 * Rejects with a sentence for the operator.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  return storeOn(await openDatabase(options), options)
}

/** Existing jobs still end when they expire. */
export const NO_PUSHES: PushRules = {
  providers: [],
  thingIntervalMs: 0,
  queued: 'provider_queued',
  ending: () => ({ status: 'sent' }),
}

function storeOn(
  database: Database,
  { pushes = NO_PUSHES, hasTiers = true, meter, runtime }: StoreOptions,
): Store {
  const tables = tablesFor(database.dialect.types)
  const merging = new Merging(database, tables, meter)
  const frontend = frontendStoresOn(database, tables, meter)
  return {
    ...frontend,
    frontend,
    turns: turnsOn(database, tables, pushes),
    leases: (range) => new Leases(database, range),
    retention: new Retention(database),
    joining: new Joining(database, tables, hasTiers ? merging : undefined),
    merging,
    pushes: new Pushes(database, tables, pushes, meter),
    probe: probeOf(database, runtime.random),
    close: () => database.close(),
  }
}
