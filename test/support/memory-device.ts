// A device whose carrier is memory: it says hello, acknowledges entries, answers pings.

import { parseDeviceId, parseDeviceKey } from '#domain/identity'
import type { ChannelId, DeviceId, OperationId } from '#domain/identity'
import { readGatewayFrame } from '#src/schemas/read-frames'
import { deviceIdOf } from '#src/acceptance/devices/device-identity'
import type { Carrier, SessionHandle } from '#src/transports/carrier'
import type { Sessions } from '#src/transports/sessions'

export interface Delivered {
  readonly channelId: ChannelId
  readonly seq: number
  readonly opId: OperationId
}

export class MemoryDevice implements Carrier {
  readonly kind = 'wss'
  readonly openingMs = 0
  readonly address = '192.0.2.1'
  readonly authorization = ''
  readonly deviceId: DeviceId
  readonly delivered: Delivered[] = []
  /** The texts of all frames that it was sent. */
  readonly heard: string[] = []
  pings = 0
  /** False for a device that does not answer pings. */
  answersPings = true
  closedWith: string | undefined
  readonly #deviceKey: string
  #handle: SessionHandle | undefined

  constructor(deviceKey: string) {
    const key = parseDeviceKey(deviceKey)
    const deviceId = key === undefined ? undefined : parseDeviceId(deviceIdOf(key))
    if (deviceId === undefined) throw new Error('not a device key')
    this.deviceId = deviceId
    this.#deviceKey = deviceKey
  }

  connect(sessions: Sessions): void {
    this.#handle = sessions.open(this)
    this.#say({ type: 'hello', device_key: this.#deviceKey })
  }

  send(texts: readonly string[]): number | 'closed' {
    if (this.closedWith !== undefined) return 'closed'
    for (const text of texts) this.#hear(text)
    return 0
  }

  close(code: number, reason: string): void {
    this.#end(`${code} ${reason}`)
  }

  cut(): void {
    this.#end('cut')
  }

  #end(how: string): void {
    if (this.closedWith !== undefined) return
    this.closedWith = how
    queueMicrotask(() => this.#handle?.closed())
  }

  #hear(text: string): void {
    this.heard.push(text)
    const frame = readGatewayFrame(text)
    if (frame?.kind === 'deliver') {
      const { channelId, seq, opId } = frame
      this.delivered.push({ channelId, seq, opId })
      this.#say({ type: 'ack', channel_id: channelId, seq })
    } else if (frame?.kind === 'ping') {
      this.pings += 1
      if (this.answersPings) this.#say({ type: 'pong', mark: frame.mark })
    }
  }

  /** Answers later: a carrier never receives during a send. */
  #say(frame: object): void {
    queueMicrotask(() => this.#handle?.receive(JSON.stringify(frame)))
  }
}
