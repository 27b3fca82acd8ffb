// What the owner of a channel sets for the hooks that monitoring tools call.

import { named, object, only } from '#src/schemas/json-schema'
import { NOT_BLANK } from '#src/schemas/patterns'
import type { ValueOf } from '#src/schemas/schema-types'

export const HOOK_MAPPINGS_MAX = 20
export const HOOK_TEXT_BYTES_MAX = 256
export const HOOK_STATES_MAX = 16
/** The kinds whose payloads a secret signs. */
export const SIGNED_KINDS = ['grafana', 'github', 'gitlab', 'sentry'] as const
export type SignedKind = (typeof SIGNED_KINDS)[number]

const TEXT = { type: 'string', pattern: NOT_BLANK, maxLength: HOOK_TEXT_BYTES_MAX } as const
const place = (description: string) => ({ ...TEXT, description }) as const
const states = (description: string) =>
  ({
    type: 'array',
    maxItems: HOOK_STATES_MAX,
    items: TEXT,
    description,
  }) as const

export const HOOK_MAPPING = only(
  named(
    'HookMapping',
    object(
      {
        title: place(
          'Members in braces, with dots between, as {alert.name}; {a|b}: the first there.',
        ),
        message: place('The text.'),
        severity: place('Words of other tools are understood, too.'),
        thing: place('The Thing; a name that no thing_id spells gets one.'),
        url: place('The page of the alarm.'),
        tags: place('The member with tags: a list, names with values, or a text.'),
        source: place('What tells one alarm from others; the title without this.'),
        start: place('When the alarm began, in each of its payloads, if the tool says so.'),
        time: place('When this happened; when it arrives without this.'),
        state: place('The state; a payload whose state is in neither list is a Message.'),
        firing: states('The states that open an Event.'),
        resolved: states('The states that close it.'),
      },
      ['title'],
    ),
  ),
)

/** A mapping of payloads of the kind `json`, as its owner sends it and as it is kept. */
export type HookMapping = ValueOf<typeof HOOK_MAPPING>
export const HOOK_MEMBERS = HOOK_MAPPING.properties
