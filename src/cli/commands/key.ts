// heliograph key: create, list, revoke.

import type { ListedKey } from '#src/client/bodies'
import { CHANNEL, credentialsOf } from '#src/cli/access'
import { dateText } from '#src/cli/facts'
import { list as listPages } from '#src/cli/paging'
import { commandClientOf, given } from '#src/cli/command-client'
import { command, parameter, text } from '#src/cli/command'

export const create = command({
  description:
    'Makes a key of 43 letters and digits that replaces the channel and its password in a client ' +
    'of another service that takes one text only (docs/migrating.md). The key is shown once.',
  options: { label: text('<text>', 'the purpose of the key'), ...CHANNEL },
  examples: ["key create --label 'backup script'"],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const credentials = await credentialsOf(options, context)
    report(await client.key.create({ ...credentials, ...given({ label: options.label }) }))
  },
})

export const list = command({
  description: 'Lists the keys of a channel, each with the id that revokes it.',
  options: CHANNEL,
  examples: ['key list'],
  async run(options, context) {
    const { client } = await commandClientOf(options, context)
    const credentials = await credentialsOf(options, context)
    const listing = {
      page: async () => ({ items: (await client.key.list(credentials)).keys }),
      headings: ['KEY', 'CREATED', 'LABEL'],
      cells: ({ key_id: id, created_at: createdAt, label }: ListedKey) => [
        id,
        dateText(createdAt),
        label,
      ],
    }
    const paging = { limit: undefined, all: true, cursor: undefined, json: options.json }
    await listPages(listing, paging, context)
  },
})

export const revoke = command({
  description: 'Revokes a key: the gateway no longer accepts it.',
  parameters: { keyId: parameter('<key_id>', 'the id of the key, from `heliograph key list`') },
  options: CHANNEL,
  examples: ['key revoke 0b5f0a9c2f4e4d7c8a9b0c1d2e3f4a5b'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const credentials = await credentialsOf(options, context)
    report(await client.key.revoke({ ...credentials, key_id: options.keyId }))
  },
})
