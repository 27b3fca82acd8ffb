// Acceptance: the checks and calls that every way in shares, whatever its protocol. HTTP routes,
// device sessions and other ways in translate requests into these calls, and outcomes into answers.
//
//   caller.ts                the caller, as plain data
//   caller-check.ts          gateway token, then budget: gateway-token.ts, password-budget.ts
//   attempt.ts               the credentials of one request, counted and logged: audit.ts
//   channel-access.ts        opens a channel by the checks of access-checks.ts, in their order
//   access-checks.ts         password, key or grant: credentials.ts, password-work.ts
//   kept-answers.ts          what is kept of the store: passwords, keys, mappings
//   submissions.ts           intent.ts, form, channel, op_id (message-claims.ts), log
//   status.ts                the status of an operation
//   series.ts                numbers of Things over time
//   receipts.ts              who got an entry
//   refusals.ts              what was refused of a channel's submissions
//   state-reads.ts           Things, Events and the feed of a channel
//   thing-queries.ts         queries of Things; few-at-once.ts bounds what takes long
//   dead-letters.ts          submissions that were set aside, for the operator
//   rules.ts                 rules of a channel, and their trials: rule-trials.ts
//   cancellations.ts         Messages that wait, taken back
//   feed-following.ts        the feed while it grows
//   channels.ts              administration of channels
//   mappings.ts              mappings of channels: known-mappings.ts
//   scrapes.ts               the numbers of Things: metrics-text.ts
//   presentations.ts         how attrs of Things are shown: discoveries.ts
//   exports.ts               everything that a channel keeps: export-lines.ts
//   hooks.ts                 hooks of channels, and the alarms that they tell
//   channel-keys.ts          keys of channels: known-keys.ts, key-uses.ts, key-rights.ts
//   subscriptions.ts         joining and leaving
//   subscribers.ts           the devices of a channel, for its owner
//   devices.ts               keys and routes of devices, pull and acknowledge without a session
//   device-identity.ts       the check before a session
//
// The calls share the parts in stage.ts.
//
// Every call checks in this order and gives the first refusal: the form of the fields, the caller's
// rights, the meaning of an op_id, and last the refusal of a way in that is draining or full.
// (decisions.md 2)

import type { Notice } from '#domain/ports'
import { Limiter } from '#domain/bounds/limiter'
import type { Retention } from '#domain/channel'
import { PROVIDERS } from '#domain/push/providers'
import type { ProviderName } from '#domain/push/providers'
import type { Meter } from '#domain/telemetry'
import { Audit } from './audit.ts'
import { createBudget } from './budget.ts'
import type { BudgetLimits } from './budget.ts'
import { Cancellations } from './cancellations.ts'
import { ChannelAccess } from './channel-access.ts'
import { ChannelKeys } from './channels/channel-keys.ts'
import { Channels } from './channels/channels.ts'
import { Credentials } from './credentials.ts'
import { KeyUses } from './key-uses.ts'
import { KnownKeys } from './known-keys.ts'
import { DeadLetters } from './dead-letters.ts'
import { FeedFollowing } from './feed-following.ts'
import { Hooks } from './channels/hooks.ts'
import { Mappings } from './channels/mappings.ts'
import { Exports } from './history/exports.ts'
import { Presentations } from './history/presentations.ts'
import { Scrapes } from './history/scrapes.ts'
import { ChannelProof } from './channels/channel-proof.ts'
import { Devices } from './devices/devices.ts'
import { CallerCheck } from './caller-check.ts'
import { tokenCheck } from './gateway-token.ts'
import { MessageClaims } from './message-claims.ts'
import { PasswordBudget } from './password-budget.ts'
import { createPasswordWork } from './password-work.ts'
import { hexSource } from './random.ts'
import { Receipts } from './channels/receipts.ts'
import { KeptRefusals } from './channels/kept-refusals.ts'
import { Refusals } from './channels/refusals.ts'
import { RuleReads } from './rules/rules.ts'
import type { TierRetention } from '#domain/history/series'
import { PAGE_READS, StateReads, pagesInTurn } from './state-reads.ts'
import type { AcceptancePorts, Stage } from './stage.ts'
import { SeriesReads } from './channels/series.ts'
import { Statuses } from './status.ts'
import { Submissions } from './submissions.ts'
import { Subscribers } from './channels/subscribers.ts'
import { Subscriptions } from './channels/subscriptions.ts'

export interface AcceptanceOptions {
  /** A secret. Empty when gateway token authentication is off. */
  readonly token: string
  readonly passwordBudget: BudgetLimits
  /** New devices a minute for each address that does not prove the gateway token. */
  readonly deviceBudgetPerAddress: number
  readonly statusRetentionMs: number
  readonly tierRetentionMs: TierRetention
  readonly historyRetentionMs: Pick<Retention, 'messagesAndEvents' | 'thingUpdates'>
  /** For unused devices and channels. */
  readonly deviceRetentionMs: number
  /** Whether new channel passwords may be among the most common ones. */
  readonly commonPasswords: 'warned' | 'refused'
  /** The settings of each push provider that is set up; absent for none. */
  readonly providers?: { readonly [Name in ProviderName]?: unknown }
}

export interface Acceptance {
  readonly callerCheck: CallerCheck
  readonly access: ChannelAccess
  readonly submissions: Submissions
  readonly cancellations: Cancellations
  readonly statuses: Statuses
  readonly receipts: Receipts
  readonly refusals: Refusals
  readonly state: StateReads
  readonly series: SeriesReads
  readonly rules: RuleReads
  readonly following: FeedFollowing
  readonly channels: Channels
  readonly keys: ChannelKeys
  readonly mappings: Mappings
  readonly hooks: Hooks
  readonly presentation: Presentations
  readonly exports: Exports
  readonly scrapes: Scrapes
  readonly proof: ChannelProof
  readonly subscriptions: Subscriptions
  readonly subscribers: Subscribers
  readonly devices: Devices
  readonly deadLetters: DeadLetters
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
  const credentials = new Credentials({ channels, work, monotonicMs, timers, entropy })
  const audit = new Audit(ports)
  const passwords = new PasswordBudget(passwordBudget, nowMs)
  const keys = new KnownKeys(ports)
  const uses = new KeyUses(ports)
  const refusals = new KeptRefusals(ports)
  const access = new ChannelAccess({ ...ports, credentials, keys, uses, refusals })
  const pages = new Limiter(PAGE_READS)
  const stage: Stage = {
    ...ports,
    ...pagesInTurn(ports, pages),
    newHex32: hexSource(entropy),
    work,
    credentials,
    keys,
    access,
    refusals,
    audit,
    budget: createBudget({ perAddress, total: NEW_DEVICES_TOTAL }, nowMs),
    statusRetentionMs,
    retention: { ...options.historyRetentionMs, unused: options.deviceRetentionMs },
    refusesCommon: options.commonPasswords === 'refused',
    providers: PROVIDERS.filter((name) => options.providers?.[name] !== undefined),
  }
  const mappings = new Mappings(stage)
  measure(meter, { pages, credentials, passwords, work, keys, uses, mappings })
  const following = new FeedFollowing(stage)
  const kept = { credentials, keys, mappings, following }
  const stopListening = bus.onNotice((notice) => forget(notice, kept))
  const statuses = new Statuses(stage)
  const whole = wholeReads(stage, options.tierRetentionMs)
  const submissions = new Submissions({ ...stage, claims: new MessageClaims(stage) })
  return {
    callerCheck: new CallerCheck(tokenCheck(options.token), passwords, audit),
    access,
    submissions,
    cancellations: new Cancellations({ ...stage, submissions }),
    statuses,
    series: new SeriesReads(stage, options.tierRetentionMs),
    receipts: new Receipts({ ...stage, statuses }),
    refusals: new Refusals(stage),
    state: new StateReads(stage),
    rules: new RuleReads(stage),
    following,
    channels: new Channels(stage),
    keys: new ChannelKeys(stage),
    mappings,
    proof: new ChannelProof(stage),
    subscriptions: new Subscriptions(stage),
    subscribers: new Subscribers(stage),
    devices: new Devices(stage),
    deadLetters: new DeadLetters(stage),
    hooks: new Hooks({ ...stage, submissions }),
    ...whole,
    recheck: () => recheck(kept),
    close: () => {
      stopListening()
      audit.flush()
      uses.write()
      void mappings.write()
      void whole.presentation.write()
    },
  }
}

/** Compares what is kept with the store again. */
function recheck({ credentials, keys, mappings, following }: Kept): void {
  credentials.recheckAll()
  keys.forgetAll()
  mappings.recheck()
  following.recheck()
}

/** Returns the reads of a whole channel, and its presentation. */
function wholeReads(
  stage: Stage,
  tiers: TierRetention,
): Pick<Acceptance, 'presentation' | 'exports' | 'scrapes'> {
  const presentation = new Presentations(stage)
  stage.meter.gauge('discovered_attrs_waiting', {}, () => presentation.waiting)
  const scrapes = new Scrapes({ ...stage, presentation })
  return { presentation, exports: new Exports(stage, tiers), scrapes }
}

interface Kept extends Pick<Acceptance, 'mappings' | 'following'> {
  readonly credentials: Credentials
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
  readonly credentials: Credentials
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
