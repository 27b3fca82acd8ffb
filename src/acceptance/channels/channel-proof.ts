// Proves that a caller knows the password of a channel. Neither a key nor a grant is such a proof.

import type { ChannelCredentials } from '#domain/channel'
import { isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { readChannelCredentials } from '#src/schemas/channel-requests'
import type { Caller } from '#src/acceptance/caller'
import type { ChannelAccess } from '#src/acceptance/channel-access'
import type { Credentials } from '#src/acceptance/credentials'

export interface ProofPorts {
  readonly access: ChannelAccess
  readonly credentials: Credentials
}

/** Proof for uses that last beyond one request. */
export class ChannelProof {
  readonly #ports: ProofPorts

  constructor(ports: ProofPorts) {
    this.#ports = ports
  }

  /** The channel that `channel_id` and `password` open. */
  async prove(fields: unknown, caller: Caller): Promise<Answer<ChannelCredentials>> {
    const sent = readChannelCredentials(fields)
    return isFault(sent) ? sent : this.#ports.access.prove(sent, caller)
  }

  /** Called when a proved password is no longer in force, by the store's word. */
  forget(channelId: ChannelId): void {
    this.#ports.credentials.forget(channelId)
  }
}
