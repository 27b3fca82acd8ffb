// How attrs of Things are shown to people: what a channel's owner sets, and what its devices say.
// (Specification: Console, Attrs have a face)

import { isFault } from '#domain/fault'
import { fault } from '#domain/fault'
import type { Discovered, Presentation } from '#domain/history/presentation'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { StoredKey } from '#domain/channel-keys'
import type { Caller } from '#src/acceptance/caller'
import type { OpenChannel } from '#src/acceptance/channel-access'
import { scopeRefusal, wholeRefusal } from '#src/acceptance/key-rights'
import type { Stage } from '#src/acceptance/stage'
import { discoveredIn, presentationIn } from '#src/schemas/history/presentation'
import { PRESENTATION } from '#src/schemas/history/presentation-routes'
import type { ChannelPresentation } from '#src/schemas/history/presentation-routes'
import { readersOf } from '#src/schemas/shape'
import { invalid } from '#src/schemas/values'
import { Discoveries } from './discoveries.ts'

const READ = readersOf(PRESENTATION)
const NO_DEVICE = invalid('device_key', 'reads the presentation; the password or a key changes it')

export class Presentations {
  readonly #ports: Stage
  readonly #discoveries: Discoveries

  constructor(ports: Stage) {
    this.#ports = ports
    this.#discoveries = new Discoveries(ports)
  }

  /** Notes what a device says of attrs, which is shown for all Things: a key for some adds none. */
  discovered({ channelId, key }: Pick<OpenChannel, 'channelId' | 'key'>, attrs: Discovered): void {
    if (key !== undefined && wholeRefusal(key) !== undefined) return
    this.#discoveries.note(channelId, attrs)
  }

  /** Writes what devices have said. */
  write(): Promise<void> {
    return this.#discoveries.write()
  }

  /** The attrs of which devices have spoken since they were last written. */
  get waiting(): number {
    return this.#discoveries.waiting
  }

  /** Replaces the presentation when the request has one; gives that of the channel. */
  async use(fields: unknown, caller: Caller): Promise<Answer<ChannelPresentation>> {
    const { access, presentations } = this.#ports
    const opened = await access.open({
      fields,
      caller,
      read: (sent) => {
        const request = READ.use(sent)
        return isFault(request) ? request : { ...request.reader, request }
      },
      scope: 'read',
      hasMore: true,
    })
    if (isFault(opened)) return opened
    const { channelId, key } = opened
    const { presentation, reader } = opened.request.request
    if (presentation !== undefined) {
      if (reader.kind === 'device') return NO_DEVICE
      // A key that changes it may send and read, for the whole channel.
      const lacks = key && (scopeRefusal(key, 'send') ?? wholeRefusal(key))
      if (lacks !== undefined) return access.refuse(caller, lacks)
    }
    if (caller.refusal !== undefined) return caller.refusal
    await this.#discoveries.write()
    const kept = await presentations.find(channelId)
    const discovered = discoveredIn(kept)
    const isDiscovered = discovered.length > 0 && { discovered: true }
    if (presentation === undefined) {
      const all = visible([...discovered, ...presentationIn(kept)], key)
      return { presentation: all, ...isDiscovered }
    }
    const own = withoutFirst(presentation, discovered)
    const isPut = await presentations.put(channelId, JSON.stringify(own))
    if (!isPut) return fault('channel_not_found')
    return { presentation: [...discovered, ...own], ...isDiscovered }
  }

  /** The presentation of a channel, with what devices say in front. */
  async of(channelId: ChannelId): Promise<Presentation> {
    const kept = await this.#ports.presentations.find(channelId)
    return [...discoveredIn(kept), ...presentationIn(kept)]
  }
}

/** Removes the entry of the devices, which a caller sends back with the rest of a read. */
function withoutFirst(presentation: Presentation, [discovered]: Presentation): Presentation {
  const isDiscovered =
    discovered !== undefined && JSON.stringify(presentation[0]) === JSON.stringify(discovered)
  return isDiscovered ? presentation.slice(1) : presentation
}

/** What may be about Things of the key: it tells nothing of others. (key-rights/1) */
const visible = (presentation: Presentation, key: StoredKey | undefined): Presentation =>
  presentation.filter(({ things: { prefix = '' } }) => {
    const { thingPrefix = '' } = key ?? {}
    return prefix.startsWith(thingPrefix) || thingPrefix.startsWith(prefix)
  })
