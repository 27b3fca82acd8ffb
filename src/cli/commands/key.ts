// heliograph key: create, list, revoke.

import { defined } from '#domain/record'
import { KEY_SCOPES } from '#domain/channel-keys'
import type { ListedKey, PageBody } from '#src/client/bodies'
import { UsageError } from '#src/cli/endings'
import { dateText } from '#src/cli/terminal-text'
import { LISTED, list as listPages } from '#src/cli/paging'
import { provenRequest } from '#src/cli/command-client'
import { oneOf, parameter, severally, text, valued } from '#src/cli/command'
import { readUntil } from '#src/cli/since'
import { readTime } from '#src/schemas/values'

export const create = provenRequest({
  description:
    'Makes a key of 43 letters and digits that stands in the place of the channel and its ' +
    'password: one for each device of a fleet. The key is shown once.',
  options: {
    label: text('<text>', 'the purpose of the key'),
    scope: severally('<scope>', 'what it allows: send or read; both by default', oneOf(KEY_SCOPES)),
    thingPrefix: text('<prefix>', 'limits it to Things whose id begins so, and their Events'),
    expires: valued('<time>', 'when it expires: 12h, 90d, or a time; never by default', readUntil),
  },
  examples: [
    "key create --label 'backup script'",
    'key create --scope send --thing-prefix boiler-7- --expires 90d',
  ],
  check({ expires }, { nowMs }) {
    const at = readTime('expires_at', expires?.(nowMs()))
    if (at === undefined || (typeof at === 'number' && at > nowMs())) return
    throw new UsageError('--expires: give a time to come, such as 90d or 2027-01-31')
  },
  send: ({ client, credentials }, { label, scope, thingPrefix, expires }, { nowMs }) =>
    client.key.create({
      ...credentials,
      ...defined({
        label,
        scopes: scope,
        thing_prefix: thingPrefix,
        expires_at: expires?.(nowMs()),
      }),
    }),
})

export const list = provenRequest({
  description: 'Lists the keys of a channel, each with its last use and the id that revokes it.',
  options: LISTED,
  examples: ['key list --all'],
  send: ({ client, credentials }) => ({
    page: async (wanted: PageBody) => {
      const { keys: items, ...next } = await client.key.list({ ...credentials, ...wanted })
      return { ...next, items }
    },
    headings: ['KEY', 'CREATED', 'LAST USED', 'EXPIRES', 'SCOPES', 'THINGS', 'LABEL'],
    cells: (key: ListedKey) => [
      key.key_id,
      dateText(key.created_at),
      key.last_used_on ?? 'never',
      key.expires_at === undefined ? 'never' : dateText(key.expires_at),
      key.scopes.join(' '),
      key.thing_prefix === undefined ? 'all' : `${key.thing_prefix}*`,
      key.label,
    ],
  }),
  show: listPages,
})

export const revoke = provenRequest({
  description: 'Revokes a key: the gateway no longer accepts it.',
  parameters: { keyId: parameter('<key_id>', 'the id of the key, from `heliograph key list`') },
  examples: ['key revoke 0b5f0a9c2f4e4d7c8a9b0c1d2e3f4a5b'],
  send: ({ client, credentials }, { keyId }) =>
    client.key.revoke({ ...credentials, key_id: keyId }),
})
