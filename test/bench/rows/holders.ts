// Holders of a key who attack a gateway from channels of their own. Their rates have bounds: the
// figures are about what each move costs, not about how many there may be.

import { EXPRESSION_RULES, TOGGLED_RULE } from '#test/bench/load/holders'
import type { Holder } from '#test/bench/load/holders'
import type { MqttAttackName } from '#test/bench/load/mqtt-attacks'
import { Caller } from '#test/bench/rig/caller'
import { keysOf } from '#test/bench/rig/channel-keys'
import { startKeyed } from '#test/bench/rig/keyed'
import { CHANNELS, THINGS, floodedRow } from './flooded.ts'
import type { Flood, Target } from './flooded.ts'
import { mqttFlood, requestFlood } from './floods.ts'
import type { Row } from './row.ts'

const TURN = { kind: 'at-most', must: 1.5, aim: 1.3 } as const
const CONNECTIONS = 16

/** Channels of the attackers, beside those of the load: one for each kind of requests. */
const OWN = {
  expressions: CHANNELS,
  trials: CHANNELS + 1,
  toggles: CHANNELS + 2,
} as const satisfies Record<Holder, number>
const MQTT_CHANNELS = 4
const FIRST_OF_MQTT = CHANNELS + 3
const KEYS = keysOf(FIRST_OF_MQTT + MQTT_CHANNELS)
const keyOf = (holder: Holder): string => KEYS[OWN[holder]] ?? ''

/** Entries of the channel whose history is tried: more than are tried at a stretch. */
const ENTRIES = 600
const RULES = 1_000
const AT_ONCE = 32

const requests = (holder: Holder, ratePerSecond: number): Flood => ({
  ratePerSecond,
  turn: TURN,
  isKept: true,
  begin(target) {
    const { token } = target.rig.subject.recipe
    return requestFlood(target, CONNECTIONS, { holder, token, key: keyOf(holder) })
  },
})

const mqtt = (attack: MqttAttackName, ratePerSecond: number): Flood => ({
  ratePerSecond,
  turn: TURN,
  isKept: true,
  begin: (target) => Promise.resolve(mqttFlood(target, attack, KEYS.slice(FIRST_OF_MQTT))),
})

export const HOLDERS_ROW: Row = floodedRow({
  name: 'holders',
  floods: {
    templates: mqtt('templates', 2),
    discovery: mqtt('discovery', 40),
    aliases: mqtt('aliases', 200),
    wills: mqtt('wills', 100),
    deaf: mqtt('deaf', 170),
    repeats: mqtt('repeats', 400),
    expressions: requests('expressions', 10),
    trials: requests('trials', 20),
    toggles: requests('toggles', 2),
  },
  async start(directory, { settings }) {
    const subject = await startKeyed(directory, {
      name: 'holders',
      channels: CHANNELS,
      things: THINGS,
      hasDevices: true,
      apart: KEYS.length - CHANNELS,
      settings,
    })
    // The attackers' submissions are stored beside what was accepted of the load: what its devices
    // get says whether that is whole.
    const nothing = () => Promise.resolve(undefined)
    return { ...subject, count: nothing, applied: nothing }
  },
  prepare,
})

/** Puts the rules, and makes the history that is tried. */
async function prepare({ rig, server }: Target): Promise<void> {
  const caller = new Caller(server, rig.subject.recipe.token)
  const put = (holder: Holder, number: number, rule: object) =>
    caller.post('/rule/put', { password: keyOf(holder), rule_id: `rule-${number}`, rule })
  // A gateway may refuse an expression for what it can cost: then there is nothing to attack with.
  await Promise.allSettled(EXPRESSION_RULES.map((rule, number) => put('expressions', number, rule)))
  await all(RULES, (number) => put('toggles', number, TOGGLED_RULE))
  await all(ENTRIES, () => caller.submit(keyOf('trials')))
}

/** Does something so many times, with a few under way. */
async function all(count: number, work: (number: number) => Promise<unknown>): Promise<void> {
  const left = Array.from({ length: count }, (_, number) => number).values()
  const worker = async (): Promise<void> => {
    for (const number of left) await work(number)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
