// Requests about the mappings of a channel, and their answers.

import { isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { UnmappedTopic } from '#domain/mqtt/mappings'
import type { Answer } from '#domain/ports'
import type { Wire } from '#src/schemas/answers'
import { shape } from '#src/schemas/shape'
import { readCredentials } from '#src/schemas/values'
import type { Credentials } from '#src/schemas/values'
import { MAPPING_ROUTES } from './mapping-schemas.ts'
import { asSent, readMappings } from './mapping.ts'
import type { Mapping } from './mapping.ts'

const mappingsShape = shape(MAPPING_ROUTES['/channel/mappings'].request)

/** `mappings`: undefined to read them. */
export type MappingsRequest = Credentials & { readonly mappings: readonly Mapping[] | undefined }

/** POST /channel/mappings */
export function readMappingsRequest(sent: unknown): Answer<MappingsRequest> {
  const body = mappingsShape(sent)
  if (isFault(body)) return body
  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  const mappings = body.mappings ? readMappings(body.mappings) : undefined
  return isFault(mappings) ? mappings : { ...credentials, mappings }
}

/** The mappings of a channel, and the newest topics that nothing takes. */
export interface ChannelMappings {
  readonly channelId: ChannelId
  readonly mappings: readonly Mapping[]
  readonly unmapped: readonly UnmappedTopic[]
}

export const mappingsToWire = ({ channelId, mappings, unmapped }: ChannelMappings): Wire => ({
  channel_id: channelId,
  mappings: mappings.map(asSent),
  unmapped: unmapped.map(({ topic, at }) => ({ topic, at })),
})
