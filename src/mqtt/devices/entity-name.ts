// Ids of Things and Events from names that devices chose.

import { createHash } from 'node:crypto'

const ID_CHARACTERS_MAX = 64
const HASH_CHARACTERS = 8
const ID = /^[A-Za-z0-9_-]+(?::[A-Za-z0-9_-]+)*$/

/**
 * The id of a name, whose levels are parted by slashes: `kitchen/lamp` is `kitchen:lamp`. A name
 * that an id cannot spell keeps what can be spelt and ends in a part of its hash, so that no two
 * names share an id.
 */
export function entityIdOf(name: string): string {
  const id = name.replaceAll('/', ':')
  if (!name.includes(':') && id.length <= ID_CHARACTERS_MAX && ID.test(id)) return id
  const readable = id.replace(/[^A-Za-z0-9_:-]/g, '_')
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARACTERS)
  return `${readable.slice(0, ID_CHARACTERS_MAX - HASH_CHARACTERS - 1)}-${hash}`
}

/**
 * The Thing that stands for a client itself, for devices whose topics name none: the prefix of its
 * key, followed by the key's label when the prefix ends in a separator; without a prefix the label,
 * and without a label the client id.
 */
export function ownThingId(client: {
  readonly thingPrefix?: string | undefined
  readonly label?: string | undefined
  readonly clientId: string
}): string {
  const { thingPrefix = '', label = '', clientId } = client
  if (thingPrefix !== '' && !/[:_-]$/.test(thingPrefix)) return thingPrefix
  return thingPrefix + entityIdOf(label.trim() === '' ? clientId : label.trim())
}
