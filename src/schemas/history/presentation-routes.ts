// The route of a channel's presentation. (Specification: Console, Attrs have a face)

import type { Presentation } from '#domain/history/presentation'
import { readingRequest } from '#src/schemas/credentials'
import { given, list, object } from '#src/schemas/json-schema'
import { read, written } from '#src/schemas/members'
import { KEYED, post, routes } from '#src/schemas/route'
import { readPresentation } from './presentation.ts'
import { PRESENTATION_MAX, PRESENTED } from './presentation-schemas.ts'

/** The presentation of a channel, with what devices say of attrs in front. */
export interface ChannelPresentation {
  readonly presentation: Presentation
  /** True where there are such ones. */
  readonly discovered?: boolean
}

export const PRESENTATION = routes('Channels', 'Presentation', {
  use: post('/channel/presentation', 'Set or read how the attrs of Things are shown', {
    request: readingRequest(
      {
        presentation: read(
          {
            type: ['array', 'null'],
            maxItems: PRESENTATION_MAX,
            items: PRESENTED,
            description:
              'Replaces the presentation of the Channel: label, unit and range of attrs, for ' +
              'Things of a prefix or a tag, or all. Later entries win, member by member. ' +
              'null or an empty list removes it; without this it stays.',
            $comment: 'null removes it',
          },
          (sent) => (sent === undefined ? undefined : readPresentation(sent ?? [])),
        ),
      },
      [],
    ),
    data: object(
      {
        presentation: list(
          written(PRESENTED, (presented: Presentation[number]) => presented),
          'The entries in their order.',
        ),
        discovered: given('boolean', 'True where the first is what devices say of their attrs.'),
      },
      ['presentation'],
    ),
    codes: KEYED,
  }),
})
