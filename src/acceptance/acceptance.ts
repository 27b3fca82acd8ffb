// Acceptance: the checks and calls that every way in shares, whatever its protocol. HTTP routes,
// device sessions and other ways in translate requests into these calls, and outcomes into answers.
//
//   caller.ts                the caller, as plain data
//   caller-check.ts          gateway token, then budget: gateway-token.ts, password-budget.ts
//   attempt.ts               the credentials of one request, counted and logged: audit.ts
//   channel-access.ts        password, key or grant: credentials.ts, password-work.ts
//   submissions.ts           intent.ts, form, channel, op_id (message-claims.ts), log
//   status.ts                the status of an operation
//   state-reads.ts           Things, Events and the feed of a channel
//   rules.ts                 rules of a channel, and their trials: rule-trials.ts
//   cancellations.ts         Messages that wait, taken back
//   feed-following.ts        the feed while it grows
//   channels.ts              administration of channels
//   mappings.ts              mappings of channels: known-mappings.ts
//   channel-keys.ts          keys of channels: known-keys.ts, key-uses.ts, key-rights.ts
//   subscriptions.ts         joining and leaving
//   subscribers.ts           the devices of a channel, for its owner
//   devices.ts               keys and routes of devices, pull and acknowledge without a session
//   device-identity.ts       the check before a session
//
// Every call checks in this order and gives the first refusal: the form of the fields, the caller's
// rights, the meaning of an op_id, and last the refusal of a way in that is draining or full.
// (decisions.md 2)

import type { Bus, Notice, NowMs, SubmissionSink, Timers } from '#domain/ports'
import { Limiter } from '#domain/bounds/limiter'
import type { Retention } from '#domain/channel'
import type { MappingStore } from '#domain/mqtt/mappings'
import type { RuleStore } from '#domain/rules/stored'
import type { Runtime } from '#domain/runtime'
import type { ChannelKeyStore } from '#domain/channel-keys'
import type { OperationStore } from '#domain/operation'
import type { ChannelStore, DeviceStore, ReadStore, SubscriptionStore } from '#domain/store-ports'
import type { Logger, Meter } from '#domain/telemetry'
import { Audit } from './audit.ts'
import { createBudget } from './budget.ts'
import type { BudgetLimits } from './budget.ts'
import { Cancellations } from './cancellations.ts'
import { ChannelAccess } from './channel-access.ts'
import { ChannelKeys } from './channels/channel-keys.ts'
import { Channels } from './channels/channels.ts'
import { createCredentials } from './credentials.ts'
import { KeyUses } from './key-uses.ts'
import { KnownKeys } from './known-keys.ts'
import { FeedFollowing } from './feed-following.ts'
import { Mappings } from './channels/mappings.ts'
import { ChannelProof } from './channels/channel-proof.ts'
import { Devices } from './devices/devices.ts'
import type { DevicePorts } from './devices/devices.ts'
import { CallerCheck } from './caller-check.ts'
import { tokenCheck } from './gateway-token.ts'
import { MessageClaims } from './message-claims.ts'
import { PasswordBudget } from './password-budget.ts'
import { createPasswordWork } from './password-work.ts'
import type { Derive } from './password-work.ts'
import { hexSource } from './random.ts'
import { RuleReads } from './rules.ts'
import { PAGE_READS, StateReads, pagesInTurn } from './state-reads.ts'
import { Statuses } from './status.ts'
import { Submissions } from './submissions.ts'
import { Subscribers } from './channels/subscribers.ts'
import { Subscriptions } from './channels/subscriptions.ts'

export interface AcceptancePorts {
  readonly sink: SubmissionSink
  readonly channels: ChannelStore
  readonly channelKeys: ChannelKeyStore
  readonly devices: DeviceStore
  readonly subscriptions: SubscriptionStore
  readonly read: ReadStore
  readonly operations: OperationStore
  readonly rules: RuleStore
  readonly mappings: MappingStore
  readonly bus: Bus
  readonly meter: Meter
  readonly logger: Logger
  readonly nowMs: NowMs
  /** Milliseconds that only grow. */
  readonly monotonicMs: () => number
  readonly timers: Timers
  readonly soon: Runtime['soon']
  readonly entropy: Runtime['entropy']
  readonly tokenProblem?: DevicePorts['tokenProblem']
  /** Derives keys from passwords; absent for scrypt. */
  readonly derive?: Derive | undefined
}

export interface AcceptanceOptions {
  /** A secret. Empty when gateway token authentication is off. */
  readonly token: string
  readonly passwordBudget: BudgetLimits
  /** New devices a minute for each address that does not prove the gateway token. */
  readonly deviceBudgetPerAddress: number
  readonly statusRetentionMs: number
  readonly historyRetentionMs: Pick<Retention, 'messagesAndEvents' | 'thingUpdates'>
  /** For unused devices and channels. */
  readonly deviceRetentionMs: number
  /** Whether new channel passwords may be among the most common ones. */
  readonly commonPasswords: 'warned' | 'refused'
}

export interface Acceptance {
  readonly callerCheck: CallerCheck
  readonly access: ChannelAccess
  readonly submissions: Submissions
  readonly cancellations: Cancellations
  readonly statuses: Statuses
  readonly state: StateReads
  readonly rules: RuleReads
  readonly following: FeedFollowing
  readonly channels: Channels
  readonly keys: ChannelKeys
  readonly mappings: Mappings
  readonly proof: ChannelProof
  readonly subscriptions: Subscriptions
  readonly subscribers: Subscribers
  readonly devices: Devices
  /**
   * Compares kept credentials, and those of followers, with the store again. Called when notices
   * may have been lost.
   */
  recheck(): void
  /** Stops listening for changed credentials. */
  close(): void
}

/** Addresses that may register devices within one minute: this bounds the map of their counts. */
const NEW_DEVICES_TOTAL = 100_000

/** Joins the parts of the stage. */
export function createAcceptance(ports: AcceptancePorts, options: AcceptanceOptions): Acceptance {
  const { bus, channels, meter, timers, nowMs, monotonicMs, entropy } = ports
  const { passwordBudget, deviceBudgetPerAddress: perAddress, statusRetentionMs } = options
  const work = createPasswordWork({
    entropy,
    salt: (first) => channels.passwordSalt(first),
    ...(ports.derive !== undefined && { derive: ports.derive }),
  })
  const credentials = createCredentials({ channels, work, monotonicMs, timers, entropy })
  const audit = new Audit(ports)
  const passwords = new PasswordBudget(passwordBudget, nowMs)
  const callerCheck = new CallerCheck(tokenCheck(options.token), passwords, audit)
  const budget = createBudget({ perAddress, total: NEW_DEVICES_TOTAL }, nowMs)
  const keys = new KnownKeys(ports)
  const uses = new KeyUses(ports)
  const access = new ChannelAccess({ credentials, keys, uses, channels, nowMs })
  const pages = new Limiter(PAGE_READS)
  const whole = {
    ...ports,
    read: pagesInTurn(ports.read, pages),
    newHex32: hexSource(entropy),
    work,
    credentials,
    keys,
    access,
    audit,
    budget,
    statusRetentionMs,
    retention: { ...options.historyRetentionMs, unused: options.deviceRetentionMs },
    refusesCommon: options.commonPasswords === 'refused',
  }
  const mappings = new Mappings(whole)
  measure(meter, { pages, credentials, passwords, work, keys, uses, mappings })
  const following = new FeedFollowing(whole)
  const kept = { credentials, keys, mappings, following }
  const stopListening = bus.onNotice((notice) => forget(notice, kept))
  const submissions = new Submissions({ ...whole, claims: new MessageClaims(whole) })
  return {
    callerCheck,
    access,
    submissions,
    cancellations: new Cancellations({ ...whole, submissions }),
    statuses: new Statuses(whole),
    state: new StateReads(whole),
    rules: new RuleReads(whole),
    following,
    channels: new Channels(whole),
    keys: new ChannelKeys(whole),
    mappings,
    proof: new ChannelProof(whole),
    subscriptions: new Subscriptions(whole),
    subscribers: new Subscribers(whole),
    devices: new Devices(whole),
    recheck: () => {
      credentials.recheckAll()
      keys.forgetAll()
      mappings.recheck()
      following.recheck()
    },
    close: () => {
      stopListening()
      audit.flush()
      uses.write()
      void mappings.write()
    },
  }
}

interface Kept extends Pick<Acceptance, 'mappings' | 'following'> {
  readonly credentials: ReturnType<typeof createCredentials>
  readonly keys: KnownKeys
}

/** Forgets what a notice says is no longer so. */
function forget(notice: Notice, { credentials, keys, mappings, following }: Kept): void {
  if (notice.kind === 'mappings-changed') void mappings.changed(notice.channelId)
  if (notice.kind !== 'credentials-changed' && notice.kind !== 'channel-deleted') return
  const keyId = notice.kind === 'credentials-changed' ? notice.keyId : undefined
  const { channelId } = notice
  keys.forget({ channelId, keyId })
  if (keyId === undefined) credentials.forget(channelId)
  following.changed(channelId)
}

interface Measured {
  readonly pages: Limiter
  readonly credentials: ReturnType<typeof createCredentials>
  readonly passwords: PasswordBudget
  readonly work: ReturnType<typeof createPasswordWork>
  readonly keys: KnownKeys
  readonly uses: KeyUses
  readonly mappings: Mappings
}

function measure(meter: Meter, parts: Measured): void {
  const { pages, credentials, passwords, work, keys, uses, mappings } = parts
  meter.gauge('page_reads_waiting', {}, () => pages.waiting)
  meter.gauge('credential_cache_entries', {}, () => credentials.size())
  meter.gauge('credential_cache_bytes', {}, () => credentials.bytes())
  meter.gauge('password_budget_addresses', {}, () => passwords.hosts)
  meter.gauge('password_checks_waiting', {}, () => work.waiting())
  meter.gauge('known_keys', {}, () => keys.size())
  meter.gauge('known_key_bytes', {}, () => keys.bytes())
  meter.gauge('key_use_bytes', {}, () => uses.bytes())
  meter.gauge('known_mappings', {}, () => mappings.size())
  meter.gauge('known_mapping_bytes', {}, () => mappings.bytes())
  meter.gauge('key_lookups_waiting', {}, () => keys.waiting())
}
