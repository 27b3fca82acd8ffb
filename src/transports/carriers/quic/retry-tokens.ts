// The tokens by which a device shows that it receives datagrams at its address, before a connection
// costs anything. (RFC 9000, 8.1.2)
//
// Invariants:
//   retry-tokens/1. A token opens a connection for TOKEN_MS, at the address that it was made for,
//                   and with the connection ID that came with it.

import { createHmac, timingSafeEqual } from 'node:crypto'

import type { Runtime } from '#domain/runtime'

/** A device answers at once: this is time for one round trip with losses. */
export const TOKEN_MS = 10_000

const KEY_BYTES = 32
const TIME_BYTES = 8
const MAC_BYTES = 32
/** Bytes of the connection IDs that the gateway chooses. */
export const ID_BYTES = 20

export class RetryTokens {
  readonly #monotonicMs: () => number
  readonly #tokenKey: Buffer
  readonly #idKey: Buffer

  constructor({ entropy, monotonicMs }: Pick<Runtime, 'entropy' | 'monotonicMs'>) {
    this.#monotonicMs = monotonicMs
    this.#tokenKey = entropy(KEY_BYTES)
    this.#idKey = entropy(KEY_BYTES)
  }

  /** Returns what the gateway's connection ID is cut from: an HMAC of the device's first one. */
  idSource(deviceId: Uint8Array): Buffer {
    return createHmac('sha256', this.#idKey).update(deviceId).digest()
  }

  /** Returns a token for an address and the connection ID that its device chose first. */
  mint(deviceId: Uint8Array, address: string): Buffer {
    const time = Buffer.alloc(TIME_BYTES)
    time.writeDoubleBE(this.#monotonicMs())
    const content = Buffer.concat([time, deviceId])
    return Buffer.concat([this.#mac(content, address), content])
  }

  /**
   * Returns the connection ID that the device chose first, when the token is valid here and now.
   * With `gatewayId`, the token must also belong to that connection ID. (retry-tokens/1)
   */
  read(token: Buffer, address: string, gatewayId?: Buffer): Buffer | undefined {
    if (token.length < MAC_BYTES + TIME_BYTES) return undefined
    const content = token.subarray(MAC_BYTES)
    const mac = token.subarray(0, MAC_BYTES)
    if (!timingSafeEqual(this.#mac(content, address), mac)) return undefined
    if (this.#monotonicMs() - content.readDoubleBE() > TOKEN_MS) return undefined
    const deviceId = content.subarray(TIME_BYTES)
    const own = this.idSource(deviceId).subarray(0, ID_BYTES)
    return gatewayId === undefined || own.equals(gatewayId) ? deviceId : undefined
  }

  #mac(content: Uint8Array, address: string): Buffer {
    return createHmac('sha256', this.#tokenKey).update(content).update(address).digest()
  }
}
