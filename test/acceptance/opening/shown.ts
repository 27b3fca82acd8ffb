// What callers show, with what happened before it.

import { addChannel } from '#test/support/acceptance-rig'
import { CHANNEL, CREDENTIALS, NOW_MS, PASSWORD } from '#test/support/making'
import { addKey } from '#test/support/mqtt-rig'
import { CALLER } from './site.ts'
import type { Site } from './site.ts'
import { ENDED_CHANNEL } from './ways.ts'
import type { Shown } from './ways.ts'

export interface Case {
  /** Makes ready. */
  readonly show: (site: Site) => Shown | Promise<Shown>
  readonly isBroken?: boolean
}

const UNKNOWN_CHANNEL = '7ZZZZZZZZZZZZZZZZZZZZZZZZW'
const LIKE_A_KEY = 'p'.repeat(43)
const UNKNOWN_KEY = 'u'.repeat(43)
const MINUTE_MS = 60_000

/** Shows something that the gateway has seen before. */
const seen = (show: Case['show'], later: (site: Site) => unknown = () => undefined): Case => ({
  show: async (site) => {
    const shown = await show(site)
    await site.acceptance.channels.info(shown, CALLER)
    await later(site)
    return shown
  },
})

const right = (): Shown => CREDENTIALS
const wrong = (): Shown => ({ channel_id: CHANNEL, password: 'wrong password' })
const keyWith =
  (rights: Parameters<typeof addKey>[1], named: Shown = {}): Case['show'] =>
  async (site) => ({ ...named, password: await addKey(site, rights) })
const anyKey = keyWith({})
const away = ({ channels, channelKeys }: Site): void => {
  channels.meanwhile = channelKeys.meanwhile = () => Promise.reject(new Error('away'))
}

export const CASES: Readonly<Record<string, Case>> = {
  'right password': { show: right },
  'right password, seen': seen(right),
  'right password, seen a minute ago': seen(right, ({ time }) => time.advance(MINUTE_MS)),
  'right password, malformed rest': { show: right, isBroken: true },
  'right password, store away': {
    show: (site) => {
      away(site)
      return CREDENTIALS
    },
  },
  'right password, seen, store away': seen(right, (site) => {
    site.time.advance(MINUTE_MS)
    away(site)
  }),
  'wrong password': { show: wrong },
  'wrong password, seen': seen(wrong),
  'wrong password, malformed rest': { show: wrong, isBroken: true },
  'changed password, seen': seen(right, ({ channels, acceptance, channelId }) =>
    addChannel(channels, CHANNEL, 'another password').then(() =>
      acceptance.proof.forget(channelId),
    ),
  ),
  'unknown channel': { show: () => ({ channel_id: UNKNOWN_CHANNEL, password: PASSWORD }) },
  'channel that is none': { show: () => ({ channel_id: 'x', password: PASSWORD }) },
  'no password': { show: () => ({ channel_id: CHANNEL }) },
  'no channel': { show: () => ({ password: PASSWORD }) },
  nothing: { show: () => ({}) },
  key: { show: anyKey },
  'key, seen': seen(anyKey),
  'key with its channel': { show: keyWith({}, { channel_id: CHANNEL }) },
  'key with another channel': { show: keyWith({}, { channel_id: UNKNOWN_CHANNEL }) },
  'key with a channel that is none': { show: keyWith({}, { channel_id: 'x' }) },
  'key, malformed rest': { show: anyKey, isBroken: true },
  'key without scopes': { show: keyWith({ scopes: [] }) },
  'key without scopes, malformed rest': { show: keyWith({ scopes: [] }), isBroken: true },
  'key that reads': { show: keyWith({ scopes: ['read'] }) },
  'key of other Things': { show: keyWith({ thingPrefix: 'boiler-' }) },
  'expired key without scopes': { show: keyWith({ scopes: [], expiresAt: NOW_MS }) },
  'expired key, malformed rest': { show: keyWith({ expiresAt: NOW_MS }), isBroken: true },
  'expired key with another channel': {
    show: keyWith({ expiresAt: NOW_MS }, { channel_id: UNKNOWN_CHANNEL }),
  },
  'revoked key, seen': seen(anyKey, async ({ channelKeys, channelId, bus }) => {
    await channelKeys.revoke(channelId, '1')
    bus.notify({ kind: 'credentials-changed', channelId, keyId: '1' })
  }),
  'key, store away': {
    show: async (site) => {
      const shown = await anyKey(site)
      away(site)
      return shown
    },
  },
  'unknown key': { show: () => ({ password: UNKNOWN_KEY }) },
  'unknown key, seen': seen(() => ({ password: UNKNOWN_KEY })),
  'unknown key with a channel': { show: () => ({ channel_id: CHANNEL, password: UNKNOWN_KEY }) },
  'unknown key, malformed rest': { show: () => ({ password: UNKNOWN_KEY }), isBroken: true },
  'password that looks like a key': {
    show: async ({ channels }) => {
      await addChannel(channels, UNKNOWN_CHANNEL, LIKE_A_KEY)
      return { channel_id: UNKNOWN_CHANNEL, password: LIKE_A_KEY }
    },
  },
  'deleted channel of a grant': {
    show: () => ({ channel_id: ENDED_CHANNEL, password: PASSWORD }),
  },
}
