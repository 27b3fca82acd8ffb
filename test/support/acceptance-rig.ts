// The acceptance stage with fakes behind it, without any way in.

import { createHash } from 'node:crypto'

import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Runtime } from '#domain/runtime'
import { createAcceptance } from '#src/acceptance/acceptance'
import type { Acceptance, AcceptanceOptions } from '#src/acceptance/acceptance'
import { createPasswordWork } from '#src/acceptance/password-work'
import type { Derive, PasswordWork } from '#src/acceptance/password-work'
import { FakeBus } from '#test/support/fake-bus'
import { FakeChannelKeys, FakeChannels } from '#test/support/fake-channels'
import { FakeDeadLetters } from '#test/support/fake-dead-letters'
import { FakeDevices, FakeSubscriptions } from '#test/support/fake-devices'
import { FakeOperations, FakeReads } from '#test/support/fake-reads'
import { FakeHooks } from '#test/support/fake-hooks'
import { FakeMappings } from '#test/support/fake-mappings'
import { FakePresentations } from '#test/support/fake-presentations'
import { FakeRules } from '#test/support/fake-rules'
import { FakeSeries } from '#test/support/fake-series'
import { FakeSink } from '#test/support/fake-sink'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { CHANNEL, NOW_MS, PASSWORD } from '#test/support/making'
import { realRuntime } from '#test/support/real-runtime'

/** A derivation that costs nothing, with the shape of scrypt's. */
export const quickDerive: Derive = (password, salt) =>
  Promise.resolve(createHash('sha256').update(salt).update(password).digest())

export interface AcceptanceRig {
  readonly acceptance: Acceptance
  readonly channelId: ChannelId
  readonly time: FakeTime
  readonly bus: FakeBus
  readonly sink: FakeSink
  readonly channels: FakeChannels
  readonly channelKeys: FakeChannelKeys
  readonly devices: FakeDevices
  readonly subscriptions: FakeSubscriptions
  readonly reads: FakeReads
  readonly series: FakeSeries
  readonly operations: FakeOperations
  readonly rules: FakeRules
  readonly deadLetters: FakeDeadLetters
  readonly mappings: FakeMappings
  readonly presentations: FakePresentations
  readonly hooks: FakeHooks
  readonly meter: FakeMeter
  readonly logger: FakeLogger
  readonly entropy: Runtime['entropy']
}

export interface AcceptanceRigOptions extends Partial<AcceptanceOptions> {
  readonly meter?: FakeMeter
  readonly derive?: Derive
}

/** The channel CHANNEL with PASSWORD exists; budgets are ample and there is no gateway token. */
export async function acceptanceRig(options: AcceptanceRigOptions = {}): Promise<AcceptanceRig> {
  const channels = new FakeChannels()
  const devices = new FakeDevices()
  const time = new FakeTime(NOW_MS)
  const parts = {
    time,
    bus: new FakeBus(),
    sink: new FakeSink(),
    channels,
    channelKeys: new FakeChannelKeys(channels),
    devices,
    subscriptions: new FakeSubscriptions(channels, devices),
    reads: new FakeReads(),
    series: new FakeSeries(),
    operations: new FakeOperations(),
    rules: new FakeRules(),
    deadLetters: new FakeDeadLetters(),
    mappings: new FakeMappings(),
    presentations: new FakePresentations(),
    hooks: new FakeHooks(),
    meter: options.meter ?? new FakeMeter(),
    logger: new FakeLogger(),
    soon: realRuntime.soon,
    entropy: realRuntime.entropy,
  }
  const channelId = await addChannel(channels, CHANNEL, PASSWORD)
  const acceptance = createAcceptance(
    {
      ...parts,
      read: parts.reads,
      timers: time,
      nowMs: time.nowMs,
      monotonicMs: time.monotonicMs,
      derive: options.derive ?? quickDerive,
    },
    {
      token: '',
      passwordBudget: { perAddress: 1_000_000, total: 1_000_000 },
      deviceBudgetPerAddress: 1_000_000,
      statusRetentionMs: 7 * 86_400_000,
      tierRetentionMs: { '5m': 7 * 86_400_000, '1h': 400 * 86_400_000, '1d': 3_650 * 86_400_000 },
      historyRetentionMs: { messagesAndEvents: 30 * 86_400_000, thingUpdates: 86_400_000 },
      deviceRetentionMs: 90 * 86_400_000,
      commonPasswords: 'warned',
      ...options,
    },
  )
  return { ...parts, acceptance, channelId }
}

/** With the salt of these channels. */
export const passwordWorkFor = (
  channels: Pick<FakeChannels, 'passwordSalt'>,
  derive: Derive = quickDerive,
): PasswordWork =>
  createPasswordWork({
    entropy: realRuntime.entropy,
    salt: (first) => channels.passwordSalt(first),
    derive,
  })

/** Puts a channel into the store, with a hash that quickDerive makes. */
export async function addChannel(
  channels: FakeChannels,
  id: string,
  password: string,
): Promise<ChannelId> {
  const channelId = parseChannelId(id)
  const passwordHash = await passwordWorkFor(channels).hash(password)
  if (channelId === undefined || typeof passwordHash !== 'string') throw new Error('bad fixture')
  await channels.create({ channelId, channelName: 'a channel', passwordHash, createdAt: NOW_MS })
  return channelId
}
