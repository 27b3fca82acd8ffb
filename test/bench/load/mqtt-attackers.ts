// The attackers of the MQTT door as a process of its own, as many moves a second as it is told. A
// connection that the gateway ends is opened again with its next move.

import { connect } from 'node:net'
import type { Socket } from 'node:net'

import type { AttackOrder, AttackReport } from './messages.ts'
import { ATTACKS } from './mqtt-attacks.ts'
import type { MqttAttack, Place, Write } from './mqtt-attacks.ts'
import { frameOf } from './websocket.ts'

const TICK_MS = 5
/** Bytes that wait for the gateway to read; beyond these a move is left out. */
const UNREAD_MAX = 1_000_000
const UPGRADE =
  'GET /mqtt HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: Upgrade\r\n' +
  'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n' +
  'sec-websocket-protocol: mqtt\r\n\r\n'

type Counts = { -readonly [Name in keyof AttackReport]: number }

class Attacker {
  readonly place: Place
  readonly #attack: MqttAttack
  readonly #counts: Counts
  readonly #socket: Socket
  readonly #isFramed: boolean
  #isReady = false
  #moves = 0

  constructor(attack: MqttAttack, place: Place, { ports, counts }: Surroundings) {
    this.place = place
    this.#attack = attack
    this.#counts = counts
    this.#isFramed = attack.carrier(place.index) === 'websocket'
    const port = this.#isFramed ? ports.httpPort : ports.mqttPort
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('error', () => undefined)
    this.#socket.once('connect', () => {
      if (!this.#isFramed) return this.#begin()
      this.#socket.write(UPGRADE)
      this.#socket.once('data', () => this.#begin())
    })
    counts.opened += 1
  }

  get isOver(): boolean {
    return this.#socket.destroyed
  }

  move(): void {
    if (!this.#isReady || this.#socket.writableLength > UNREAD_MAX) {
      this.#counts.late += 1
      return
    }
    this.#write(this.#attack.move(this.place, this.#moves))
    this.#moves += 1
    this.#counts.moves += 1
  }

  end(): void {
    this.#socket.destroy()
  }

  #begin(): void {
    this.#isReady = true
    this.#write(this.#attack.opening(this.place))
    const { reading } = this.#attack
    if (reading === 'all') this.#socket.resume()
    if (reading === 'until-answered') this.#socket.once('data', () => this.end())
  }

  #write(writes: readonly Write[]): void {
    for (const { opcode, bytes } of writes) {
      this.#counts.bytes += bytes.length
      if (this.#isFramed) this.#socket.write(frameOf(opcode, bytes))
      else if (bytes.length > 0) this.#socket.write(bytes)
    }
  }
}

interface Surroundings {
  readonly ports: Pick<AttackOrder, 'httpPort' | 'mqttPort'>
  readonly counts: Counts
}

async function attackBy(order: AttackOrder): Promise<AttackReport> {
  const { keys, ratePerSecond, durationMs } = order
  const attack = ATTACKS[order.attack]
  const counts: Counts = { moves: 0, late: 0, opened: 0, bytes: 0 }
  const around = { ports: order, counts }
  const attackers: Attacker[] = []
  const startMs = performance.now()
  let passedMs = 0
  let due = 0
  for (; passedMs < durationMs; passedMs = performance.now() - startMs) {
    for (; due < (passedMs * ratePerSecond) / 1_000; due += 1) {
      const index = due % attack.connections
      const before = attackers[index]
      if (before !== undefined && !before.isOver) before.move()
      else {
        const turn = (before?.place.turn ?? -1) + 1
        const place = { key: keys[index % keys.length] ?? '', index, turn }
        attackers[index] = new Attacker(attack, place, around)
      }
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS))
  }
  for (const attacker of attackers) attacker.end()
  return counts
}

process.on('message', (order: AttackOrder) => {
  void attackBy(order).then((report) => process.send?.(report))
})
// The bench is gone.
process.on('disconnect', () => process.exit())
