// Opens a channel for a caller: by its password, or by a grant.

import type { ChannelCredentials } from '#domain/channel'
import { fault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { ChannelStore } from '#domain/store-ports'
import { isRecord } from '#src/schemas/shape'
import type { Caller } from './caller.ts'
import type { Credentials } from './credentials.ts'

type Opened = Answer<ChannelCredentials>

const NOT_FOUND = fault('channel_not_found')

/**
 * Stands where the fields of other callers hold a password: the form of every request has one. It
 * opens nothing, for a grant is never compared with a password.
 */
const IN_PLACE_OF_A_PASSWORD = 'granted without a password'

/** The fields as they are read: those of a caller with a grant need no password. */
export function readableFields(fields: unknown, { grant }: Caller): unknown {
  if (grant === undefined || !isRecord(fields)) return fields
  return { ...fields, password: IN_PLACE_OF_A_PASSWORD }
}

export class ChannelAccess {
  readonly #credentials: Credentials
  readonly #channels: Pick<ChannelStore, 'credentials'>

  constructor(credentials: Credentials, channels: Pick<ChannelStore, 'credentials'>) {
    this.#credentials = credentials
    this.#channels = channels
  }

  /**
   * The channel when the caller may use it; channel_not_found or server_busy otherwise. No promise
   * when a password is known, as it is for nearly every submission.
   */
  open(channelId: ChannelId, password: string, caller: Caller): Opened | Promise<Opened> {
    if (caller.grant === undefined) return this.#credentials.check(channelId, password)
    return caller.grant.channels.has(channelId) ? this.#existing(channelId) : NOT_FOUND
  }

  /** A grant may be older than the end of its channel. */
  async #existing(channelId: ChannelId): Promise<Opened> {
    return (await this.#channels.credentials(channelId)) ?? NOT_FOUND
  }
}
