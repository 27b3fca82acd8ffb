// Resources: the channels that a person bound to the assistant, and their Things.
//
// Invariants:
//   resources/1. A list has one order: the channels by id, then the active Things of one channel
//                after the other. A cursor names channel and place in it, so any node goes on from
//                it, and a channel that was unbound meanwhile is passed over.
//   resources/2. One page costs a bounded number of reads.

import type { ListResourcesResult, ReadResourceResult } from '@modelcontextprotocol/server'
import type { Resource } from '@modelcontextprotocol/server'

import type { Bindings, Grant } from '#domain/assistants'
import type { Thing } from '#domain/entity'
import { fault, isFault } from '#domain/fault'
import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { Caller } from '#src/acceptance/caller'
import { thingToWire } from '#src/schemas/answers'
import { CHANNEL } from '#src/schemas/channel-routes'
import type { Wire } from '#src/schemas/members'
import { encodeCursor, readCursor } from '#src/schemas/paging'
import type { Call } from './call.ts'

interface ResourcePorts {
  readonly acceptance: Pick<Acceptance, 'state' | 'channels'>
  readonly bindings: Pick<Bindings, 'ofGrant'>
}

const ROOT = 'heliograph://channel/'
const JSON_TYPE = 'application/json'
/** Channels whose Things are read for one page. (resources/2) */
const CHANNELS_A_PAGE = 5

export const TEMPLATES = [
  {
    name: 'channel',
    title: 'A Channel',
    uriTemplate: `${ROOT}{channel_id}`,
    description: 'Name and counts of a Channel that a person bound to you.',
    mimeType: JSON_TYPE,
  },
  {
    name: 'thing',
    title: 'A Thing',
    uriTemplate: `${ROOT}{channel_id}/thing/{thing_id}`,
    description: 'The present state of a Thing, also of an archived one.',
    mimeType: JSON_TYPE,
  },
]

/** The next place of a list: behind a Thing of a channel, or at the channel's first. */
interface Place {
  readonly channelId: ChannelId
  readonly cursor: string | undefined
}

export class Resources {
  readonly #ports: ResourcePorts

  constructor(ports: ResourcePorts) {
    this.#ports = ports
  }

  /** One page. The first one has the channels too. */
  async list(cursor: string | undefined, call: Call): Promise<Answer<ListResourcesResult>> {
    const { assistant } = call
    if (assistant.kind === 'password') return { resources: [] }
    const from = readPlace(cursor)
    if (isFault(from)) return from
    const [channels, caller] = await Promise.all([this.#channels(assistant.grant), call.caller()])
    const resources = from === undefined ? channels.map(channelResource) : []
    const ids = channels.map(({ channelId }) => channelId)
    let place = from ?? startOf(ids[0])
    for (let reads = 0; reads < CHANNELS_A_PAGE && place !== undefined; reads += 1) {
      const { channelId } = place
      const page = await this.#things(place, caller)
      if (isFault(page)) return page
      resources.push(...page.items.map((thing) => thingResource(channelId, thing)))
      const isMore = page.next !== undefined
      place = isMore ? { channelId, cursor: encodeCursor(page.next) } : after(ids, channelId)
      if (page.items.length > 0) break
    }
    return { resources, ...(place !== undefined && { nextCursor: writePlace(place) }) }
  }

  /** The contents of one resource; entity_not_found for a URI that names none. */
  async read(uri: string, call: Call): Promise<Answer<ReadResourceResult>> {
    const named = parseUri(uri)
    if (named === undefined) return fault('entity_not_found')
    const content = await this.#content(named, call)
    if (isFault(content)) return content
    return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(content) }] }
  }

  /** resources/1 */
  async #channels({ grantId }: Grant) {
    const bound = await this.#ports.bindings.ofGrant(grantId)
    return bound.toSorted((one, other) => (one.channelId < other.channelId ? -1 : 1))
  }

  async #things({ channelId, cursor }: Place, caller: Caller) {
    const fields = { channel_id: channelId, state: 'active', cursor }
    const page = await this.#ports.acceptance.state.things(fields, caller)
    // The channel was unbound since the page before. (resources/1)
    return isFault(page) && page.code === 'channel_not_found' ? NOTHING : page
  }

  async #content({ channelId, thingId }: Named, call: Call): Promise<Answer<Wire>> {
    const { state, channels } = this.#ports.acceptance
    const caller = await call.caller()
    const fields = { channel_id: channelId }
    if (thingId === undefined) {
      const info = await channels.info(fields, caller)
      return isFault(info) ? info : CHANNEL.info.write(info)
    }
    const thing = await state.thing({ ...fields, thing_id: thingId }, caller)
    return isFault(thing) ? thing : thingToWire(thing)
  }
}

const NOTHING = { items: [], next: undefined } as const

const after = (ids: readonly ChannelId[], channelId: ChannelId): Place | undefined =>
  startOf(ids.find((id) => id > channelId))

const startOf = (channelId: ChannelId | undefined): Place | undefined =>
  channelId === undefined ? undefined : { channelId, cursor: undefined }

const writePlace = ({ channelId, cursor }: Place): string =>
  cursor === undefined ? channelId : `${channelId}.${cursor}`

/** The place of a cursor; undefined for the first page. */
function readPlace(sent = ''): Answer<Place | undefined> {
  if (sent === '') return undefined
  const [id = '', cursor, ...rest] = sent.split('.')
  const channelId = parseChannelId(id)
  const isOurs = channelId === id && rest.length === 0 && !isFault(readCursor(cursor))
  return isOurs ? { channelId, cursor } : fault('invalid_cursor', { field: 'cursor' })
}

const channelResource = (named: { channelId: ChannelId; channelName: string }): Resource => ({
  uri: ROOT + named.channelId,
  name: named.channelId,
  title: named.channelName,
  description: 'A Channel that a person bound to you.',
  mimeType: JSON_TYPE,
})

function thingResource(channelId: ChannelId, thing: Thing): Resource {
  const title = thing.fields.values['title']
  return {
    uri: `${ROOT}${channelId}/thing/${thing.id}`,
    name: thing.id,
    ...(typeof title === 'string' && title !== '' && { title }),
    description: 'A Thing of the Channel.',
    mimeType: JSON_TYPE,
  }
}

interface Named {
  readonly channelId: string
  readonly thingId: string | undefined
}

const URI = /^heliograph:\/\/channel\/([0-9A-Za-z]{26})(?:\/thing\/([A-Za-z0-9_:-]{1,64}))?$/

function parseUri(uri: string): Named | undefined {
  const [, channelId, thingId] = URI.exec(uri) ?? []
  return channelId === undefined ? undefined : { channelId, thingId }
}
