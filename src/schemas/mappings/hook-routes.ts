// The route of a channel's hooks.

import type { ChannelId } from '#domain/identity'
import { ID } from '#src/schemas/channel-routes'
import { CREDENTIALS } from '#src/schemas/credentials'
import { list, object, whole } from '#src/schemas/json-schema'
import { computed, read } from '#src/schemas/members'
import { KEYED, post, routes } from '#src/schemas/route'
import { readMappings, readSecrets } from './hook-requests.ts'
import type { ChannelHooks } from './hook-requests.ts'
import {
  HOOK_MAPPING,
  HOOK_MAPPINGS_MAX,
  HOOK_TEXT_BYTES_MAX,
  SIGNED_KINDS,
} from './hook-schemas.ts'

const SECRET = { type: ['string', 'null'], maxLength: HOOK_TEXT_BYTES_MAX } as const

/** The hooks of a channel. */
export type HooksOfChannel = ChannelHooks & { readonly channelId: ChannelId }

export const HOOKS = routes('Channels', 'Hooks', {
  use: post(
    '/channel/hooks',
    'Set or read what payloads of the hook json become, and the secrets of hooks',
    {
      request: object(
        {
          ...CREDENTIALS,
          json: read(
            {
              type: ['array', 'null'],
              maxItems: HOOK_MAPPINGS_MAX,
              items: HOOK_MAPPING,
              description:
                'Replaces the mappings; without this they stay. The first one whose title is ' +
                'there is used. docs/hooks.md has examples.',
            },
            (sent) => (sent ? readMappings(sent) : undefined),
            'mappings',
          ),
          secrets: read(
            {
              type: ['object', 'null'],
              propertyNames: { enum: SIGNED_KINDS },
              additionalProperties: SECRET,
              description:
                'Sets secrets by the kind of hook; null removes one. With a secret, a payload ' +
                'must be signed with it.',
            },
            (sent) => (sent ? readSecrets(sent) : undefined),
          ),
        },
        ['channel_id', 'password'],
      ),
      data: whole({
        ...ID,
        json: computed(
          list(HOOK_MAPPING, 'The mappings, in their order.'),
          ({ mappings }: ChannelHooks) => mappings,
        ),
        // Shows which kinds have a secret, and no secret.
        secrets: computed(
          list({ type: 'string', enum: SIGNED_KINDS }, 'The kinds that have a secret.'),
          ({ secrets }: ChannelHooks) => SIGNED_KINDS.filter((kind) => kind in secrets),
        ),
      }),
      codes: KEYED,
    },
  ),
})
