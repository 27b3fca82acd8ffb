// A carrier whose other end is the test: it says what a gateway would say, frame by frame, and reads
// what the device says.

import type { Carrier, CarrierEvents } from '#src/client/carrier'
import type { ChannelId } from '#domain/identity'
import type { DeviceFrame } from '#src/schemas/frames'
import { encodeNotice } from '#src/schemas/session/frame-schemas'
import type { GatewayNotice } from '#src/schemas/frames'
import { readDeviceFrame } from '#src/schemas/read-frames'
import { isFault } from '#domain/fault'

import { until } from './until.ts'

/** A Thing's delivery, in a few words. */
export interface ThingWords {
  readonly id: string
  readonly rev?: number
  readonly action?: string
  readonly state?: string
  readonly attrs?: object
}

export class ScriptedGateway {
  /** The frames that the device has sent in all its sessions. */
  readonly heard: DeviceFrame[] = []
  /** Connections so far. */
  opened = 0
  /** True while no connection comes about. */
  isAway = false
  #events: CarrierEvents | undefined

  readonly carrier: Carrier = (events) => {
    this.opened += 1
    this.#events = events
    queueMicrotask(() => (this.isAway ? events.closed('no connection') : events.opened()))
    return {
      send: (text) => {
        const frame = readDeviceFrame(text)
        if (isFault(frame)) throw new Error(`no frame: ${text}`)
        this.heard.push(frame)
      },
      close: () => undefined,
    }
  }

  /** Waits for the hello of the session with this number, counted from 1. */
  async greeted(session = 1): Promise<Extract<DeviceFrame, { readonly kind: 'hello' }>> {
    const hellos = () => this.heard.filter(({ kind }) => kind === 'hello')
    await until('the device says hello', () => hellos().length >= session)
    const hello = hellos()[session - 1]
    if (hello?.kind !== 'hello') throw new Error('no hello')
    return hello
  }

  say(notice: GatewayNotice): void {
    this.#events?.received(encodeNotice(notice))
  }

  welcome(channels: readonly (readonly [ChannelId, headSeq: number, cursor: number])[]): void {
    this.say({
      kind: 'welcome',
      sessionId: 's',
      serverTime: 1,
      heartbeatMs: 25_000,
      idleMs: 75_000,
      maxFrameBytes: 163_840,
      channels: channels.map(([channelId, headSeq, cursor]) => ({
        channelId,
        channelName: 'a channel',
        headSeq,
        cursor,
      })),
    })
  }

  message(channelId: ChannelId, seq: number): void {
    const entity_id = seq.toString(16).padStart(32, '0')
    this.#deliver(channelId, seq, { model: 'message', action: 'send', entity_id }, { title: 'a' })
  }

  thing(channelId: ChannelId, seq: number, { id, attrs = {}, ...words }: ThingWords): void {
    const { action = 'update', state = 'active', rev = 1 } = words
    this.#deliver(channelId, seq, { model: 'thing', action, entity_id: id, state, rev }, { attrs })
  }

  lose(): void {
    this.#events?.closed('connection lost')
  }

  #deliver(channel_id: ChannelId, seq: number, entry: object, payload: object): void {
    const ids = { channel_id, seq, delivery_id: 'd', op_id: `op-${seq}`, accepted_at: 1 }
    this.#events?.received(JSON.stringify({ type: 'deliver', ...ids, ...entry, payload }))
  }
}
