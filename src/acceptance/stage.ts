// What the stage is made of: the ports that it is handed, and the parts that its calls share.

import type { Retention } from '#domain/channel'
import type { ChannelKeyStore } from '#domain/channel-keys'
import type { DeadLetterStore } from '#domain/operator/dead-letters'
import type { SeriesStore } from '#domain/history/series'
import type { HookStore } from '#domain/hooks'
import type { PresentationStore } from '#domain/history/presentation'
import type { MappingStore } from '#domain/mqtt/mappings'
import type { OperationStore } from '#domain/operation'
import type { Bus, NowMs, SubmissionSink, Timers } from '#domain/ports'
import type { ProviderName } from '#domain/push/providers'
import type { RuleStore } from '#domain/rules/stored'
import type { Runtime } from '#domain/runtime'
import type { ChannelStore, DeviceStore, ReadStore, SubscriptionStore } from '#domain/store-ports'
import type { Logger, Meter } from '#domain/telemetry'
import type { Audit } from './audit.ts'
import type { Budget } from './budget.ts'
import type { ChannelAccess } from './channel-access.ts'
import type { Credentials } from './credentials.ts'
import type { KnownKeys } from './known-keys.ts'
import type { KeptRefusals } from './channels/kept-refusals.ts'
import type { Derive, PasswordWork } from './password-work.ts'

export interface AcceptancePorts {
  readonly sink: SubmissionSink
  readonly channels: ChannelStore
  readonly channelKeys: ChannelKeyStore
  readonly devices: DeviceStore
  readonly subscriptions: SubscriptionStore
  readonly read: ReadStore
  readonly series: SeriesStore
  readonly operations: OperationStore
  readonly rules: RuleStore
  readonly mappings: MappingStore
  readonly presentations: PresentationStore
  readonly deadLetters: DeadLetterStore
  readonly hooks: HookStore
  readonly bus: Bus
  readonly meter: Meter
  readonly logger: Logger
  readonly nowMs: NowMs
  /** Milliseconds that only grow. */
  readonly monotonicMs: () => number
  readonly timers: Timers
  readonly soon: Runtime['soon']
  readonly entropy: Runtime['entropy']
  /** Returns why no push can reach a token, as a sentence; absent where no provider is set up. */
  readonly tokenProblem?:
    | ((provider: ProviderName, token: string) => string | undefined)
    | undefined
  /** Derives keys from passwords; absent for scrypt. */
  readonly derive?: Derive | undefined
}

export interface Stage extends AcceptancePorts {
  readonly newHex32: () => string
  readonly work: PasswordWork
  readonly credentials: Credentials
  readonly keys: KnownKeys
  readonly access: ChannelAccess
  readonly refusals: KeptRefusals
  readonly audit: Audit
  /** Counts new devices. */
  readonly budget: Budget
  readonly statusRetentionMs: number
  readonly retention: Retention
  /** True where the most common passwords are refused. */
  readonly refusesCommon: boolean
  /** The push providers that are set up. */
  readonly providers: readonly ProviderName[]
}
