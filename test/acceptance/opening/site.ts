// A gateway in memory whose callers show what they have, and what that costs them.

import type { ExecutionContext } from 'ava'

import { fault, isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Caller } from '#src/acceptance/caller'
import type { Guard } from '#src/acceptance/caller-check'
import { DoorRequests } from '#src/doors/door-requests'
import { addChannel, quickDerive } from '#test/support/acceptance-rig'
import type { AcceptanceRigOptions } from '#test/support/acceptance-rig'
import { NOW_MS } from '#test/support/making'
import { mqttRig } from '#test/support/mqtt-rig'
import type { MqttRig } from '#test/support/mqtt-rig'

export interface SiteOptions extends AcceptanceRigOptions {
  readonly isOpen?: () => boolean
}

export interface Site extends MqttRig {
  readonly requests: DoorRequests
  readonly deviceKey: string
  /** What callers have in the place of an Authorization header. */
  readonly authorization: string
  /** Passwords that were computed. */
  computed: number
}

export const CALLER: Caller = { receivedAtMs: NOW_MS }
/** The address of whoever shows something. */
export const ADDRESS = '198.51.100.9'
/** A channel whose password the gateway has seen. */
const OTHER = { channel_id: 'ZYXWVTSRQPNMKJHGFEDCBA9870', password: 'another channel' }

export async function openSite(
  t: ExecutionContext,
  options: SiteOptions,
  authorization = '',
): Promise<Site> {
  const count = { computed: 0 }
  const derive: typeof quickDerive = (...derived) => {
    count.computed += 1
    return quickDerive(...derived)
  }
  const rig = await mqttRig(t, { ...options, derive })
  const { acceptance, time, channels } = rig
  const isOpen = options.isOpen ?? (() => true)
  const { callerCheck } = acceptance
  const requests = new DoorRequests('other', { ...rig, callerCheck, isOpen, nowMs: time.nowMs })
  const device = await acceptance.devices.register({ platform: 'web' }, CALLER)
  if (isFault(device)) throw new Error('no device')
  await addChannel(channels, OTHER.channel_id, OTHER.password)
  await acceptance.channels.info(OTHER, CALLER)
  return Object.assign(count, { ...rig, requests, deviceKey: device.deviceKey, authorization })
}

/** Lets a call answer as a request from an address. */
export async function ask(
  { requests, authorization }: Site,
  guard: Guard,
  call: (caller: Caller) => Promise<Answer<object>>,
  address = ADDRESS,
): Promise<Answer<object>> {
  return requests.answer({ guard, peer: { address }, authorization }, call)
}

/** Takes a share of the budget from an address; returns the limit that refused it. */
async function take(site: Site, address: string, isKnown: boolean): Promise<number | undefined> {
  const guard: Guard = { token: 'none', budget: 'passwords' }
  const { channels } = site.acceptance
  const call = async (caller: Caller): Promise<Answer<object>> =>
    isKnown ? channels.info(OTHER, caller) : fault('validation_failed')
  const answer = await ask(site, guard, call, address)
  return isFault(answer) ? answer.limit : undefined
}

/** Takes the shares of guesses that are left. Returns how many, and the limit that ended it. */
export async function takeGuesses(site: Site): Promise<readonly [count: number, limit: number]> {
  for (let count = 0; ; count += 1) {
    const limit = await take(site, `192.0.2.${count}`, false)
    if (limit !== undefined) return [count, limit]
  }
}

export const takeAddress = (site: Site) => take(site, ADDRESS, false)
export const takeKnown = (site: Site) => take(site, '192.0.2.99', true)
