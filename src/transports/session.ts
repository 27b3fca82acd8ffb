// Runs the protocol `heliograph.v1` for one session of one device, from hello to close, over any
// carrier. It has no clock and no I/O: it takes Inputs with monotonic time and gives Outputs.
//
//   greeting ── hello ──▶ admitting ── admitted ──▶ serving ── leave ──▶ draining ──▶ closed
//      └──────── refused, too late, broken rules, carrier gone: closed ◀──────────────┘
//
// Invariants:
//   session/1. A session delivers nothing before the credentials of its hello were accepted.
//   session/2. Each phase has its own state, so a closed session holds none and a draining one
//     sends no entries.
//   session/3. A session ends after MISSED_PINGS_MAX pings without an answer.
//   session/4. The pings and checks of sessions that began together are spread over their periods.

import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { FRAME_BYTES_MAX } from '#src/schemas/frames'
import { ENDING, Inbound, errorOutput, noticeOutput } from './inbound.ts'
import type { Ending } from './inbound.ts'
import { Serving } from './serving.ts'
import type { InPhase, InputOf, Phase } from './session-phase.ts'
import {
  ADMIT_WITHIN_MS,
  CHECK_EVERY_MS,
  CLOSE,
  HEARTBEAT_MS,
  HELLO_WITHIN_MS,
  IDLE_MS,
  LEAVE_WITHIN_MS,
  MISSED_PINGS_MAX,
  RETRY_READ_MS,
} from './signals.ts'
import type { Input, Output } from './signals.ts'

const NOTHING: readonly Output[] = []

export class Session {
  #phase: Phase
  readonly #inbound = new Inbound()
  readonly #spread: number

  /** `spread`, from 0 to 1, distributes the timed work of many sessions over their periods. */
  constructor(nowMs: number, spread: number) {
    this.#phase = { kind: 'greeting', untilMs: nowMs + HELLO_WITHIN_MS }
    this.#spread = spread
  }

  get phase(): Phase['kind'] {
    return this.#phase.kind
  }

  /** The number of channels that wait for catch-up. */
  get behind(): number {
    return this.#phase.kind === 'serving' ? this.#phase.serving.behind : 0
  }

  /** The sent and unacknowledged entries. */
  get unacknowledged(): { readonly entries: number; readonly bytes: number } {
    const phase = this.#phase
    return phase.kind === 'serving' ? phase.serving.unacknowledged : { entries: 0, bytes: 0 }
  }

  /** The latest time for the next tick, in monotonic milliseconds; Infinity for no tick. */
  tickAt(nowMs: number): number {
    const phase = this.#phase
    if (phase.kind === 'closed') return Infinity
    if (phase.kind !== 'serving') return phase.untilMs
    const due = Math.min(phase.nextPingMs, phase.nextCheckMs)
    return phase.serving.isPostponed ? Math.min(due, nowMs + RETRY_READ_MS) : due
  }

  /** Takes one input; gives the outputs to perform, in this order. */
  handle(input: Input, nowMs: number): readonly Output[] {
    if (input.kind === 'broken' && this.#phase.kind !== 'closed') {
      return this.#end(ENDING[input.rule])
    }
    switch (this.#phase.kind) {
      case 'greeting':
      case 'admitting':
        return this.#beforeWelcome(this.#phase, input, nowMs)
      case 'serving':
        return this.#whileServing(this.#phase, input, nowMs)
      case 'draining':
        return this.#whileDraining(this.#phase, input, nowMs)
      case 'closed':
        break // session/2
    }
    return NOTHING
  }

  #beforeWelcome(
    phase: InPhase<'greeting' | 'admitting'>,
    input: Input,
    nowMs: number,
  ): readonly Output[] {
    switch (input.kind) {
      case 'received':
        return this.#greeted(phase, input.text, nowMs)
      case 'admitted':
        return phase.kind === 'admitting' ? this.#welcome(phase, input, nowMs) : NOTHING
      case 'refused':
        return this.#close(CLOSE.policy, input.code, fault(input.code))
      case 'subscribed':
      case 'unsubscribed':
        if (phase.kind === 'admitting') phase.isChanged = true
        return NOTHING
      case 'tick':
        if (nowMs < phase.untilMs) return NOTHING
        if (phase.kind === 'greeting')
          return this.#close(CLOSE.policy, 'no hello', late('no hello came'))
        return this.#leave({ kind: 'leave', reason: 'unavailable' }, nowMs)
      case 'leave':
        return this.#leave(input, nowMs)
      case 'gone':
        return this.#forget()
      case 'channel-renamed':
      case 'announced':
      case 'pages':
      case 'postponed':
      case 'positions':
      case 'buffered':
      case 'broken':
        break // session/1
    }
    return NOTHING
  }

  #greeted(
    phase: InPhase<'greeting' | 'admitting'>,
    text: string,
    nowMs: number,
  ): readonly Output[] {
    const frame = this.#inbound.read(text)
    if (frame.kind === 'ending') return this.#end(frame)
    if (frame.kind === 'fault') return this.#close(CLOSE.policy, 'bad hello', frame)
    if (phase.kind === 'admitting') return this.#end(this.#inbound.idle(frame, nowMs))
    if (frame.kind !== 'hello') {
      const detail = 'the first frame must be a hello'
      return this.#close(CLOSE.policy, 'no hello', fault('validation_failed', { detail }))
    }
    const untilMs = nowMs + ADMIT_WITHIN_MS
    this.#phase = { kind: 'admitting', untilMs, cursors: frame.cursors, isChanged: false }
    return [{ kind: 'admit', hello: frame }]
  }

  #welcome(
    phase: InPhase<'admitting'>,
    { sessionId, serverTime, positions }: InputOf<'admitted'>,
    nowMs: number,
  ): readonly Output[] {
    const serving = new Serving()
    const outputs: Output[] = []
    const channels = serving.begin(positions, phase.cursors, outputs)
    this.#phase = {
      kind: 'serving',
      serving,
      nextPingMs: nowMs + HEARTBEAT_MS * this.#spread, // session/4
      pingsMissed: 0,
      nextCheckMs: phase.isChanged ? nowMs : nowMs + CHECK_EVERY_MS * (0.5 + this.#spread / 2),
    }
    const welcome = noticeOutput({
      kind: 'welcome',
      sessionId,
      serverTime,
      heartbeatMs: HEARTBEAT_MS,
      idleMs: IDLE_MS,
      maxFrameBytes: FRAME_BYTES_MAX,
      channels,
    })
    return [welcome, ...outputs]
  }

  #whileServing(phase: InPhase<'serving'>, input: Input, nowMs: number): readonly Output[] {
    const { serving } = phase
    const outputs: Output[] = []
    switch (input.kind) {
      case 'received':
        phase.pingsMissed = 0
        return this.#received(serving, input.text, nowMs)
      case 'announced':
        serving.announced(input, outputs)
        break
      case 'pages':
        if (serving.pages(input.ticket, input.pages, outputs) === 'goes-on') break
        return this.#leave({ kind: 'leave', reason: 'resync', retryAfterMs: 0 }, nowMs)
      case 'postponed':
        serving.postponed(input.ticket)
        break
      case 'subscribed':
        serving.subscribe(input.position, outputs)
        break
      case 'unsubscribed':
        serving.unsubscribe(input.channelId, input.reason, outputs)
        break
      case 'channel-renamed':
        serving.rename(input.channelId, input.channelName, outputs)
        break
      case 'positions':
        serving.heads(input.positions, outputs)
        break
      case 'buffered':
        serving.bufferedBytes(input.bytes, outputs)
        break
      case 'tick':
        return this.#tick(phase, nowMs)
      case 'leave':
        return this.#leave(input, nowMs)
      case 'gone':
        return this.#forget()
      case 'admitted':
      case 'refused':
      case 'broken':
        break
    }
    return outputs
  }

  #received(serving: Serving, text: string, nowMs: number): readonly Output[] {
    const frame = this.#inbound.read(text)
    if (frame.kind === 'ending') return this.#end(frame)
    if (frame.kind === 'fault') return this.#end(this.#inbound.mistake(frame, nowMs))
    if (frame.kind === 'hello') {
      const mistake = fault('validation_failed', { detail: 'a session has one hello' })
      return this.#end(this.#inbound.mistake(mistake, nowMs))
    }
    if (frame.kind !== 'ack') return this.#end(this.#inbound.idle(frame, nowMs))
    const outputs: Output[] = []
    const acknowledged = serving.acknowledge(frame.channelId, frame.seq, outputs)
    if (acknowledged === 'moved') return outputs
    if (acknowledged === 'stale') return this.#end(this.#inbound.idle(frame, nowMs))
    return this.#end(this.#inbound.mistake(acknowledged, nowMs))
  }

  #tick(phase: InPhase<'serving'>, nowMs: number): readonly Output[] {
    const outputs: Output[] = []
    phase.serving.tick(outputs)
    if (nowMs >= phase.nextCheckMs) {
      phase.nextCheckMs = nowMs + CHECK_EVERY_MS
      outputs.push({ kind: 'read-positions' })
    }
    if (nowMs < phase.nextPingMs) return outputs
    if (phase.pingsMissed >= MISSED_PINGS_MAX) {
      return this.#close(CLOSE.policy, 'no answer', late('no ping was answered')) // session/3
    }
    phase.pingsMissed += 1
    // Each session keeps its own moment, also after a delay of the process. (session/4)
    const missed = Math.floor((nowMs - phase.nextPingMs) / HEARTBEAT_MS)
    phase.nextPingMs += HEARTBEAT_MS * (1 + missed)
    outputs.push(noticeOutput({ kind: 'ping', mark: undefined }))
    return outputs
  }

  /** Takes late acknowledgements and no other frame. (session/2) */
  #whileDraining(phase: InPhase<'draining'>, input: Input, nowMs: number): readonly Output[] {
    if (input.kind === 'gone') return this.#forget()
    if (input.kind === 'tick' && nowMs >= phase.untilMs) {
      return this.#close(CLOSE.goingAway, 'going away')
    }
    if (input.kind !== 'received') return NOTHING
    const frame = this.#inbound.read(input.text)
    if (frame.kind === 'ending') return this.#end(frame)
    if (frame.kind !== 'ack') return NOTHING
    const outputs: Output[] = []
    phase.serving.acknowledge(frame.channelId, frame.seq, outputs)
    return outputs.filter(({ kind }) => kind === 'acknowledge') // session/2
  }

  #leave({ reason, retryAfterMs }: InputOf<'leave'>, nowMs: number): readonly Output[] {
    const goaway = noticeOutput({ kind: 'goaway', reason, retryAfterMs })
    const notices =
      reason === 'unavailable' ? [errorOutput(fault('internal_error')), goaway] : [goaway]
    if (this.#phase.kind !== 'serving') {
      this.#phase = { kind: 'closed' }
      return [...notices, { kind: 'close', code: CLOSE.tryLater, reason }]
    }
    const { serving } = this.#phase
    this.#phase = { kind: 'draining', serving, untilMs: nowMs + LEAVE_WITHIN_MS }
    return notices
  }

  #end(ending: Ending | readonly Output[]): readonly Output[] {
    if (!('kind' in ending)) return ending
    return this.#close(ending.code, ending.reason, ending.because)
  }

  #close(code: number, reason: string, because?: Fault): readonly Output[] {
    this.#phase = { kind: 'closed' }
    const close: Output = { kind: 'close', code, reason }
    return because === undefined ? [close] : [errorOutput(because), close]
  }

  #forget(): readonly Output[] {
    this.#phase = { kind: 'closed' }
    return NOTHING
  }
}

const late = (detail: string): Fault => fault('request_timeout', { detail: `${detail} in time` })
