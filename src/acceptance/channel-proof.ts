// Proof that somebody knows the password of a channel, for what lasts beyond one request.

import type { ChannelCredentials } from '#domain/channel'
import { isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { readChannelCredentials } from '#src/schemas/channel-requests'
import type { Caller } from './caller.ts'
import type { Credentials } from './credentials.ts'

export class ChannelProof {
  readonly #credentials: Credentials

  constructor({ credentials }: { readonly credentials: Credentials }) {
    this.#credentials = credentials
  }

  /** The channel that `channel_id` and `password` open; a grant is no proof. */
  async prove(fields: unknown, { refusal }: Caller): Promise<Answer<ChannelCredentials>> {
    const sent = readChannelCredentials(fields)
    if (isFault(sent)) return sent
    const opened = await this.#credentials.check(sent.channelId, sent.password)
    return isFault(opened) ? opened : (refusal ?? opened)
  }

  /** To be called when the store says that a password which was proved is not in force any more. */
  forget(channelId: ChannelId): void {
    this.#credentials.forget(channelId)
  }
}
