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
 * Takes the place of the password in a granted caller's fields: the form of every request has one.
 * It opens nothing, since no password is compared for a grant.
 */
const IN_PLACE_OF_A_PASSWORD = 'granted without a password'

/** The fields to read: a caller with a grant needs no password in them. */
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
   * Gives the channel when the caller may use it, channel_not_found or server_busy otherwise. Not a
   * promise when the password is known, as for nearly every submission.
   */
  open(channelId: ChannelId, password: string, caller: Caller): Opened | Promise<Opened> {
    if (caller.grant === undefined) return this.#credentials.check(channelId, password, caller)
    return caller.grant.channels.has(channelId) ? this.#existing(channelId) : NOT_FOUND
  }

  /** A grant may be older than the end of its channel. */
  async #existing(channelId: ChannelId): Promise<Opened> {
    return (await this.#channels.credentials(channelId)) ?? NOT_FOUND
  }
}
