// Reads the frames of a device, and bounds them.
//
// Invariants:
//   inbound/1. A device's input is bounded: the bytes of a frame, the broken frames of a
//     connection, and, by a token bucket, the frames that move no position. An acknowledgement that
//     moves a position takes no token, nor does one that answers a `caught_up`: the gateway's own
//     frames bound their number.

import { FAULTS, fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { DEVICE_FRAME_BYTES_MAX } from '#src/schemas/frames'
import { encodeNotice } from '#src/schemas/session/frame-schemas'
import type { DeviceFrame, GatewayNotice } from '#src/schemas/frames'
import { readDeviceFrame } from '#src/schemas/read-frames'
import type { BrokenRule } from './carrier.ts'
import { BROKEN_FRAMES_MAX, CLOSE, IDLE_FRAMES_PER_SECOND_MAX } from './signals.ts'
import type { Output } from './signals.ts'

/** The reason for which a connection ends at once, and the message to the device. */
export interface Ending {
  readonly kind: 'ending'
  readonly code: number
  readonly reason: string
  readonly because?: Fault
}

/** The ending for a device that broke a rule before there was a text to read. */
export const ENDING: Readonly<Record<BrokenRule, Ending>> = {
  'frame-too-big': {
    kind: 'ending',
    code: CLOSE.tooBig,
    reason: 'frame too big',
    because: fault('body_too_large', {
      detail: `a frame has at most ${DEVICE_FRAME_BYTES_MAX} bytes`,
    }),
  },
  'not-text': {
    kind: 'ending',
    code: CLOSE.unsupported,
    reason: 'text frames only',
    because: fault('invalid_json_syntax', { detail: 'a frame is JSON text in UTF-8' }),
  },
  'no-room': {
    kind: 'ending',
    code: CLOSE.tryLater,
    reason: 'too many unfinished frames',
    because: fault('server_busy'),
  },
}

export class Inbound {
  #brokenFrames = 0
  /** Idle frames that may arrive at once; the bucket gets as many new tokens in a second. */
  #tokens = IDLE_FRAMES_PER_SECOND_MAX
  #filledAtMs = 0

  /** The frame in a text, a fault about it, or the end of the connection. */
  read(text: string): Answer<DeviceFrame> | Ending {
    // A text has at least as many bytes as UTF-16 units; carriers that count bytes are stricter.
    if (text.length > DEVICE_FRAME_BYTES_MAX) {
      return ENDING['frame-too-big'] // inbound/1
    }
    const frame = readDeviceFrame(text)
    if (frame.kind === 'fault' && isBroken(frame)) this.#brokenFrames += 1
    return frame
  }

  /** Handles a fault after which the session may go on. */
  mistake(mistake: Fault, nowMs: number): Ending | readonly Output[] {
    if (this.#brokenFrames >= BROKEN_FRAMES_MAX) {
      // inbound/1
      return { kind: 'ending', code: CLOSE.policy, reason: 'broken frames', because: mistake }
    }
    return this.#isFlood(nowMs) ? tooMany() : [errorOutput(mistake)]
  }

  /** Handles a frame that moves no position. */
  idle(frame: DeviceFrame, nowMs: number): Ending | readonly Output[] {
    if (this.#isFlood(nowMs)) return tooMany()
    return frame.kind === 'ping' ? [noticeOutput({ kind: 'pong', mark: frame.mark })] : []
  }

  #isFlood(nowMs: number): boolean {
    // Time that goes back adds no tokens.
    const elapsedMs = Math.max(0, nowMs - this.#filledAtMs)
    const filled = this.#tokens + (elapsedMs / 1_000) * IDLE_FRAMES_PER_SECOND_MAX
    this.#tokens = Math.min(IDLE_FRAMES_PER_SECOND_MAX, filled) - 1
    this.#filledAtMs = nowMs
    return this.#tokens < 0 // inbound/1
  }
}

const isBroken = ({ code, field }: Fault): boolean =>
  code === 'invalid_json_syntax' || (code === 'invalid_json_data' && field === undefined)

const tooMany = (): Ending => ({
  kind: 'ending',
  code: CLOSE.policy,
  reason: 'too many frames',
  because: fault('rate_limited'),
})

export const noticeOutput = (notice: GatewayNotice): Output => ({
  kind: 'send',
  text: encodeNotice(notice),
})

export const errorOutput = ({ code, detail }: Fault): Output =>
  noticeOutput({ kind: 'error', code, message: detail ?? FAULTS[code] })
