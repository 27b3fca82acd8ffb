// Proves that a caller knows the password of a channel. A grant is no proof.

import type { ChannelCredentials } from '#domain/channel'
import { isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { readChannelCredentials } from '#src/schemas/channel-requests'
import type { Credentials as ChannelPassword } from '#src/schemas/values'
import type { Caller } from '#src/acceptance/caller'
import type { Credentials } from '#src/acceptance/credentials'

/** The channel that the password opens, unless the caller's requests are refused now. */
export async function provedChannel(
  credentials: Credentials,
  { channelId, password }: ChannelPassword,
  { refusal, attempt }: Caller,
): Promise<Answer<ChannelCredentials>> {
  const opened = await credentials.check(channelId, password, { attempt })
  return isFault(opened) ? opened : (refusal ?? opened)
}

/** Proof for uses that last beyond one request. */
export class ChannelProof {
  readonly #credentials: Credentials

  constructor({ credentials }: { readonly credentials: Credentials }) {
    this.#credentials = credentials
  }

  /** The channel that `channel_id` and `password` open. */
  async prove(fields: unknown, caller: Caller): Promise<Answer<ChannelCredentials>> {
    const sent = readChannelCredentials(fields)
    return isFault(sent) ? sent : provedChannel(this.#credentials, sent, caller)
  }

  /** Called when a proved password is no longer in force, by the store's word. */
  forget(channelId: ChannelId): void {
    this.#credentials.forget(channelId)
  }
}
