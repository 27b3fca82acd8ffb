// Goal: the attackers of the bench send what a gateway reads, and attack with it.

import test from 'ava'
import { parser } from 'mqtt-packet'
import type { Packet } from 'mqtt-packet'

import { readRule } from '#src/rules/read-rule'
import { HOLDERS, TOGGLED_RULE, prepareHolders } from './load/holders.ts'
import { ATTACKS, MQTT_ATTACKS } from './load/mqtt-attacks.ts'
import type { MqttAttackName, Write } from './load/mqtt-attacks.ts'
import { stamp } from './load/payload.ts'

const PLACE = { key: 'k'.repeat(43), index: 1, turn: 0 }
const FIRST = { ...PLACE, index: 0 }

const bytesOf = (writes: readonly Write[]): Buffer =>
  Buffer.concat(writes.map(({ bytes }) => bytes))

/** The packets of so many moves, the opening before them. */
function packetsOf(name: MqttAttackName, place: typeof PLACE, moves: number): readonly Packet[] {
  const packets: Packet[] = []
  const reader = parser({ protocolVersion: 5 })
  reader.on('packet', (packet) => packets.push(packet))
  reader.parse(bytesOf(ATTACKS[name].opening(place)))
  for (let n = 0; n < moves; n += 1) reader.parse(bytesOf(ATTACKS[name].move(place, n)))
  return packets
}

const MOVES: Readonly<Record<MqttAttackName, number>> = {
  trickles: 1_100,
  unfinished: 0,
  templates: 2,
  discovery: 2,
  aliases: 32,
  wills: 1,
  deaf: 2,
  repeats: 2,
}

for (const name of MQTT_ATTACKS) {
  test(`the writes of ${name} are packets of MQTT`, (t) => {
    if (name === 'unfinished') {
      const parts = ATTACKS[name].opening(PLACE)
      t.deepEqual(
        parts.map(({ opcode }) => opcode),
        [2, 0, 0, 0],
      )
      return
    }
    const [first, ...rest] = packetsOf(name, PLACE, MOVES[name])
    t.is(first?.cmd, 'connect')
    const isBareConnect = name === 'trickles' || name === 'wills'
    t.is(rest.length, isBareConnect ? 0 : MOVES[name])
  })
}

test('each attack has what it attacks with', (t) => {
  const [, templates] = packetsOf('templates', PLACE, 1)
  if (templates?.cmd !== 'publish') return t.fail()
  const { '~': base, stat_t } = JSON.parse(templates.payload.toString()) as Record<string, string>
  const characters = ((base?.length ?? 0) / 2) * (stat_t?.length ?? 0)
  t.true(characters > 2 ** 28 && characters < 2 ** 29, 'of one text, which V8 can make')
  t.true(templates.payload.length < 256 * 1_024)

  const aliases = packetsOf('aliases', PLACE, 33).slice(1)
  const set = aliases.map((packet) => packet.cmd === 'publish' && packet.properties?.topicAlias)
  t.deepEqual([set[0], set[31], set[32]], [1, 32, 1])

  const [will] = packetsOf('wills', PLACE, 0)
  t.true(will?.cmd === 'connect' && (will.will?.payload.length ?? 0) >= 64_000)
  t.is(packetsOf('deaf', FIRST, 1).at(-1)?.cmd, 'publish')
  t.is(packetsOf('deaf', PLACE, 1).at(-1)?.cmd, 'subscribe')

  const trickle = ATTACKS.trickles.move(PLACE, 0).map(({ bytes }) => bytes.length)
  t.deepEqual([Math.max(...trickle), trickle.at(-1)], [1, 0])
})

test('the rule that is toggled and tried is a rule', (t) => {
  t.is(readRule(TOGGLED_RULE).kind, 'rule')
})

for (const holder of HOLDERS) {
  test(`a request of ${holder} is valid HTTP, and its next update is later`, (t) => {
    for (const prepared of prepareHolders({ holder, token: 'token', key: 'k'.repeat(43) })) {
      const text = stamp(prepared, 2_000_000_000_000, 1).toString()
      const [head = '', body = ''] = text.split('\r\n\r\n')
      t.regex(head, /^POST \/\S+ HTTP\/1\.1\r\n/)
      t.true(head.includes(`content-length: ${Buffer.byteLength(body)}`))
      const { observed_at, attrs } = JSON.parse(body) as { observed_at?: number; attrs?: object }
      t.is(observed_at, attrs === undefined ? undefined : 2_000_000_000_000)
    }
  })
}
