// The door of MQTT over the acceptance stage, without sockets. Time passes when the test turns it.

import type { ExecutionContext } from 'ava'

import type { KeyRights } from '#domain/channel-keys'
import type { Runtime } from '#domain/runtime'
import { keyHashOf } from '#src/acceptance/known-keys'
import { MqttDoor } from '#src/mqtt/door'
import type { MqttDoorPorts } from '#src/mqtt/door'
import { acceptanceRig } from '#test/support/acceptance-rig'
import type { AcceptanceRig, AcceptanceRigOptions } from '#test/support/acceptance-rig'
import { FakeMqttSessions } from '#test/support/fake-mqtt-sessions'
import { realRuntime } from '#test/support/real-runtime'

export const KEPT_MS_MAX = 30 * 86_400_000

export interface MqttRig extends AcceptanceRig {
  readonly door: MqttDoor
  /** Opens the door of another node, over the same stores and bus. */
  readonly another: (more?: Partial<MqttDoorPorts>) => MqttDoor
  readonly mqttSessions: FakeMqttSessions
  /** Milliseconds pass, and what was due has run. */
  readonly pass: (ms: number) => void
}

export async function mqttRig(
  t: ExecutionContext,
  options: AcceptanceRigOptions & { readonly isOpen?: () => boolean } = {},
): Promise<MqttRig> {
  const rig = await acceptanceRig(options)
  const { time } = rig
  const repeats = new Set<() => void>()
  const runtime: Runtime = {
    ...realRuntime,
    nowMs: time.nowMs,
    monotonicMs: time.monotonicMs,
    after: time.after,
    wait: (ms) => new Promise((resolve) => void time.after(ms, resolve)),
    every: (_, callback) => {
      repeats.add(callback)
      return () => repeats.delete(callback)
    },
  }
  const mqttSessions = new FakeMqttSessions()
  const { reads: read, sink: _, ...parts } = rig
  const another = (more: Partial<MqttDoorPorts> = {}): MqttDoor => {
    const isOpen = options.isOpen ?? (() => true)
    const door = new MqttDoor(
      { ...parts, read, runtime, mqttSessions, isOpen, ...more },
      { keysOnly: (options.token ?? '') !== '', keptMsMax: KEPT_MS_MAX },
    )
    t.teardown(() => door.close())
    return door
  }
  const pass = (ms: number): void => {
    time.advance(ms)
    for (const callback of repeats) callback()
  }
  return { ...rig, door: another(), another, mqttSessions, pass }
}

/** Makes a key of the channel, which may send and read. */
export async function addKey(
  { channels, channelKeys, channelId }: AcceptanceRig,
  rights: Partial<KeyRights> = {},
  label = '',
): Promise<string> {
  const keyId = String(channelKeys.rows.length + 1)
  const key = keyId.padStart(43, 'k')
  const passwordHash = channels.rows.get(channelId)?.passwordHash ?? ''
  await channelKeys.create({
    keyId,
    channelId,
    passwordHash,
    keyHash: keyHashOf(key),
    label,
    createdAt: 0,
    scopes: ['send', 'read'],
    thingPrefix: '',
    expiresAt: 0,
    ...rights,
  })
  return key
}
