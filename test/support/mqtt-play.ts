// Plays packet exchanges with a session of MQTT, in lines that a test can read.

import { fault } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import type { ConnectPacket, Packet, PublishPacket } from '#src/mqtt/codec'
import { Session } from '#src/mqtt/session'
import type { Input, Output } from '#src/mqtt/signals'

export const connect = (more: Partial<ConnectPacket> = {}): ConnectPacket => ({
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion: 4,
  clientId: 'sensor-1',
  clean: true,
  keepalive: 60,
  username: 'channel',
  password: Buffer.from('password'),
  ...more,
})

export const publish = (qos: 0 | 1 | 2, messageId: number, more = {}): PublishPacket => ({
  cmd: 'publish',
  topic: 'things/a',
  payload: Buffer.from('{}'),
  qos,
  dup: false,
  retain: false,
  ...(qos > 0 && { messageId }),
  ...more,
})

export const packet = (sent: Packet): Input => ({ kind: 'packet', packet: sent })
export const opened: Input = { kind: 'opened', isPresent: false, madeId: undefined, keptMs: 0 }
export const settled = (ticket: number, code?: FaultCode): Input => ({
  kind: 'settled',
  ticket,
  ...(code !== undefined && { fault: fault(code) }),
})

/** An input, or milliseconds that pass before a tick. */
export type Step = Input | number

/** Plays the steps against a new session; returns the lines of each step's outputs. */
export function play(steps: readonly Step[]): readonly string[][] {
  let nowMs = 0
  const session = new Session(nowMs)
  return steps.map((step) => {
    if (typeof step === 'number') nowMs += step
    const input: Input = typeof step === 'number' ? { kind: 'tick' } : step
    return session.handle(input, nowMs).map(lineOf)
  })
}

/** An output in few words: its packet with its ids and codes, or what is to be done. */
export function lineOf(output: Output): string {
  switch (output.kind) {
    case 'open':
      return `open ${output.opening.clientId}`
    case 'submit':
      return `submit ${output.ticket} ${output.publication.topic}`
    case 'close':
      return output.isClean ? 'close clean' : 'close'
    case 'send':
      break
  }
  const { cmd, messageId, reasonCode, returnCode } = output.packet as Packet & {
    readonly reasonCode?: number
    readonly returnCode?: number
  }
  const code = reasonCode ?? returnCode
  return [cmd, messageId, code === undefined ? undefined : `0x${code.toString(16)}`]
    .filter((part) => part !== undefined)
    .join(' ')
}
