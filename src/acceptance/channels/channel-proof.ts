// Proves that a caller knows the password of a channel. Neither a key nor a grant is such a proof.

import type { ChannelCredentials } from '#domain/channel'
import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { CREDENTIALS_REQUEST } from '#src/schemas/channel-routes'
import { request } from '#src/schemas/shape'
import type { Caller } from '#src/acceptance/caller'
import type { Stage } from '#src/acceptance/stage'

const readCredentials = request(CREDENTIALS_REQUEST)

const NOT_FOUND = fault('channel_not_found')

/** Proof for uses that last beyond one request. */
export class ChannelProof {
  readonly #ports: Stage

  constructor(ports: Stage) {
    this.#ports = ports
  }

  /** The channel that `channel_id` and `password` open. */
  async prove(fields: unknown, caller: Caller): Promise<Answer<ChannelCredentials>> {
    const { access } = this.#ports
    const read = readCredentials
    const opened = await access.open({ fields, caller, read, by: 'password' })
    return isFault(opened) ? opened : (opened.credentials ?? NOT_FOUND)
  }

  /** Called when a proved password is no longer in force, by the store's word. */
  forget(channelId: ChannelId): void {
    this.#ports.credentials.forget(channelId)
  }
}
