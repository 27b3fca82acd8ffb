// The senders of floods: requests over HTTP, and connections at the MQTT door.

import type { GeneratorOrder } from '#test/bench/load/messages'
import type { MqttAttackName } from '#test/bench/load/mqtt-attacks'
import { Generator, MqttAttackers } from '#test/bench/rig/load-process'
import type { Sender, Target } from './flooded.ts'

type Recipe = Extract<GeneratorOrder, { readonly kind: 'connect' }>['recipe']

/** Sends requests that are due at a rate, over so many connections. */
export async function requestFlood(
  { rig, doors }: Target,
  connections: number,
  recipe: Recipe,
): Promise<Sender> {
  const ports = rig.subject.entrances.map(({ port }) => port)
  const crowd = new Generator()
  await crowd.connect({ ports, connections, recipe })
  return {
    async send(ratePerSecond, durationMs) {
      const before = doors.questions
      const report = await crowd.load({ pace: { kind: 'open', ratePerSecond }, durationMs })
      const { accepted, refused, lost, latency } = report
      const namesAsked = doors.questions - before
      return { 200: accepted, ...refused, lost, p50Ms: latency.p50Ms, namesAsked }
    },
    stop: () => crowd.stop(),
  }
}

/** Attacks the MQTT door with these keys. */
export function mqttFlood(
  { doors, server }: Target,
  attack: MqttAttackName,
  keys: readonly string[],
): Sender {
  const crowd = new MqttAttackers()
  const ports = { mqttPort: doors.mqttPort, httpPort: server.port }
  return {
    async send(ratePerSecond, durationMs) {
      return { ...(await crowd.attack({ attack, ...ports, keys, ratePerSecond, durationMs })) }
    },
    stop: () => crowd.stop(),
  }
}
