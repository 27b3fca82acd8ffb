// Strangers who flood a gateway: without any credential, and with the gateway token.

import type { MqttAttackName } from '#test/bench/load/mqtt-attacks'
import type { Stranger } from '#test/bench/load/strangers'
import { keyedChannels } from '#test/bench/rig/channel-keys'
import { startKeyed } from '#test/bench/rig/keyed'
import { QuicStrangers } from '#test/bench/rig/load-process'
import { registerClient } from '#test/bench/rig/open-doors'
import type { OpenDoors } from '#test/bench/rig/open-doors'
import type { Subject } from '#test/bench/rig/subject'
import { CHANNELS, THINGS, floodedRow } from './flooded.ts'
import type { Flood, Sender, Target } from './flooded.ts'
import { mqttFlood, requestFlood } from './floods.ts'
import type { Row } from './row.ts'

const CONNECTIONS = 64

const WITHOUT = { kind: 'at-most', must: 1.5, aim: 1.3 } as const
/** These have the gateway token, and so no budget. */
const WITH_TOKEN = { kind: 'at-most', must: 2, aim: 1.3 } as const

const requests = (stranger: Stranger, flood: Pick<Flood, 'ratePerSecond' | 'turn' | 'isKept'>) => ({
  ...flood,
  async begin(target: Target): Promise<Sender> {
    const { token } = target.rig.subject.recipe
    const channels = keyedChannels(CHANNELS).map(({ channelId }) => channelId)
    const clientId = await registerClient(target.server)
    return requestFlood(target, CONNECTIONS, { stranger, token, channels, clientId })
  },
})

/** Connections at the MQTT door that show no credential. */
const connections = (attack: MqttAttackName, ratePerSecond: number): Flood => ({
  ratePerSecond,
  turn: WITHOUT,
  begin: (target) => Promise.resolve(mqttFlood(target, attack, [''])),
})

const QUIC: Flood = {
  ratePerSecond: 1_000,
  turn: WITHOUT,
  begin({ doors }) {
    const crowd = new QuicStrangers()
    const port = doors.quicPort
    return Promise.resolve({
      send: async (ratePerSecond, durationMs) => ({
        ...(await crowd.flood({ port, ratePerSecond, durationMs })),
      }),
      stop: () => crowd.stop(),
    })
  },
}

const starting =
  (name: string) =>
  (directory: string, { settings }: OpenDoors): Promise<Subject> =>
    startKeyed(directory, { name, channels: CHANNELS, things: THINGS, hasDevices: true, settings })

export const STRANGERS_ROWS: readonly Row[] = [
  floodedRow({
    name: 'strangers',
    start: starting('strangers'),
    floods: {
      quic: QUIC,
      metadata: requests('metadata', { ratePerSecond: 1_000, turn: WITHOUT }),
      oauth: requests('oauth', { ratePerSecond: 1_000, turn: WITHOUT }),
      trickles: connections('trickles', 250),
      unfinished: connections('unfinished', 200),
    },
  }),
  floodedRow({
    name: 'strangers-with-token',
    start: starting('strangers-with-token'),
    floods: {
      passwords: requests('passwords', { ratePerSecond: 3_400, turn: WITH_TOKEN }),
      statuses: requests('statuses', { ratePerSecond: 3_400, turn: WITH_TOKEN }),
      registrations: requests('registrations', {
        ratePerSecond: 3_400,
        turn: WITH_TOKEN,
        isKept: true,
      }),
    },
  }),
]
