// Goal: every publish that a client got acknowledged has one effect, and none is lost, wherever its
// connections break and whichever node is killed in the middle of an exchange.
// Method: a client with a kept session publishes at QoS 1 and 2 with few packet ids, over doors of
// several nodes on one store and one log. Connections break and nodes die at random moments, with
// packets lost in both directions; then the client sends again what it has no acknowledgement of.
// RUNS sets the number of seeds, TEST_SEED the first.

import test from 'ava'

import type { Packet, PublishPacket } from '#src/mqtt/codec'
import { TEST_MS } from '#test/support/bounds'
import { MqttClient } from '#test/support/mqtt-client'
import { publish } from '#test/support/mqtt-play'
import { mqttRig } from '#test/support/mqtt-rig'
import type { MqttRig } from '#test/support/mqtt-rig'
import { seeded } from '#test/support/random'
import { rounds, turn } from '#test/support/until'

const RUNS = Number(process.env['RUNS'] ?? 40)
const FIRST = Number(process.env['TEST_SEED'] ?? 1)
const PUBLISHES = 30
const PACKET_IDS = 6

type Random = (below: number) => number

/** A node that may be killed: from then on nothing that it does has an effect. */
function nodeOf(rig: MqttRig, random: Random) {
  let isDead = false
  const { acceptance, mqttSessions } = rig
  const later = async (): Promise<void> => {
    for (let turns = random(4); turns > 0; turns -= 1) await turn()
    if (isDead) await new Promise(() => undefined)
  }
  const { submissions } = acceptance
  let written = Promise.resolve()
  const door = rig.another({
    acceptance: {
      ...acceptance,
      submissions: {
        refusalBy: (...asked) => submissions.refusalBy(...asked),
        submit: async (...asked) => {
          await later()
          const answer = await submissions.submit(...asked)
          await later()
          return answer
        },
      },
    },
    mqttSessions: {
      enter: (entry) => mqttSessions.enter(entry),
      subscribe: (...asked) => mqttSessions.subscribe(...asked),
      leave: async (...asked) => {
        if (!isDead) await mqttSessions.leave(...asked)
      },
      record: async (...asked) => {
        written = written.then(later) // The store takes them in their order.
        await written
        const isOwned = await mqttSessions.record(...asked)
        await later()
        return isOwned
      },
    },
  })
  return { door, kill: () => (isDead = true) }
}

/** What a client must send again: publishes without acknowledgement, and PUBRELs without PUBCOMP. */
class Sender {
  readonly acknowledged: string[] = []
  readonly #open = new Map<number, PublishPacket | 'released'>()
  #made = 0

  get isDone(): boolean {
    return this.#made === PUBLISHES && this.#open.size === 0
  }

  /** The packets with which a connection begins. */
  again(): readonly Packet[] {
    return [...this.#open].map(([messageId, sent]) =>
      sent === 'released' ? { cmd: 'pubrel', messageId } : { ...sent, dup: true },
    )
  }

  next(random: Random): readonly Packet[] {
    const messageId = 1 + random(PACKET_IDS)
    if (this.#made === PUBLISHES || this.#open.has(messageId)) return []
    this.#made += 1
    const payload = Buffer.from(`number ${this.#made}`)
    const sent = publish(random(2) === 0 ? 1 : 2, messageId, { topic: 'messages', payload })
    this.#open.set(messageId, sent)
    return [sent]
  }

  take({ cmd, messageId = 0 }: Packet): readonly Packet[] {
    const sent = this.#open.get(messageId)
    if (sent === undefined) return []
    if (cmd === 'pubcomp') this.#open.delete(messageId)
    else if (sent !== 'released' && (cmd === 'puback' || cmd === 'pubrec')) {
      this.acknowledged.push(sent.payload.toString())
      if (cmd === 'puback') this.#open.delete(messageId)
      else this.#open.set(messageId, 'released')
      if (cmd === 'pubrec') return [{ cmd: 'pubrel', messageId }]
    }
    return []
  }
}

async function play(rig: MqttRig, random: Random): Promise<Sender> {
  const sender = new Sender()
  let node = nodeOf(rig, random)
  const goOn = rounds(2_000)
  while (!sender.isDone && goOn()) {
    const level = random(2) === 0 ? 4 : 5
    const properties = { sessionExpiryInterval: 60 }
    rig.pass(random(3))
    const client = await MqttClient.enter(node.door, { level }, { clean: false, properties })
    client.tell(...sender.again())
    let taken = 0
    for (let steps = random(30); steps > 0 && !sender.isDone; steps -= 1) {
      if (random(2) === 0) await turn()
      const sent = [...sender.next(random)]
      const arrived = client.received.slice(taken)
      taken = client.received.length
      for (const packet of arrived) sent.push(...sender.take(packet))
      if (sent.length > 0) client.tell(...sent)
    }
    const fate = random(4)
    if (fate === 0) node.kill()
    if (fate < 3) client.vanish()
    if (fate < 2) node = nodeOf(rig, random)
  }
  return sender
}

test(`each acknowledged publish has one effect, over ${RUNS} seeds`, async (t) => {
  t.timeout(TEST_MS)
  for (let seed = FIRST; seed < FIRST + RUNS; seed += 1) {
    const rig = await mqttRig(t)
    const sender = await play(rig, seeded(seed))
    const effects = new Map<string, Set<string>>()
    for (const { opId, fields } of rig.sink.accepted as readonly Effect[]) {
      const text = String(fields?.body)
      effects.set(text, (effects.get(text) ?? new Set()).add(opId))
    }
    const wrong = sender.acknowledged.filter((text) => effects.get(text)?.size !== 1)
    t.deepEqual(wrong, [], `TEST_SEED=${seed} RUNS=1`)
    t.is(effects.size, PUBLISHES)
  }
})

interface Effect {
  readonly opId: string
  readonly fields?: { readonly body?: unknown }
}
