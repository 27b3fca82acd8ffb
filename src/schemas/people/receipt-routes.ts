// The route that tells who got an entry. (Specification: Receipts)

import { CHANNEL_TYPES } from '#domain/device'
import { isFault } from '#domain/fault'
import type { OperationId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { PLATFORMS } from '#domain/push/providers'
import { RECEIPT_STATES } from '#domain/push/receipts'
import type { EntryReceipts, Receipt, ReceiptState } from '#domain/push/receipts'
import { MODELS } from '#domain/submission'
import { CREDENTIALS } from '#src/schemas/credentials'
import { ABSENT, eitherOf, given, list, object, oneOf } from '#src/schemas/json-schema'
import { requiredText, text, whole } from '#src/schemas/json-schema'
import { computed, read } from '#src/schemas/members'
import { ENTITY_ID_FORM, OPERATION_ID_FORM, trimmed } from '#src/schemas/patterns'
import { KEYED, post, routes } from '#src/schemas/route'
import { DEVICE_LABEL, SUBSCRIBER_ID } from '#src/schemas/subscription-routes'
import { ENTITY_ID, OPERATION_ID, invalid, readParsed } from '#src/schemas/values'
import type { SentText } from '#src/schemas/values'

/** The entry that is asked about. */
export type Asked =
  | { readonly kind: 'operation'; readonly opId: OperationId }
  | { readonly kind: 'entity'; readonly entityId: string }

function readAsked(
  sentOpId: SentText,
  field: string,
  { entity_id: sentEntityId }: { readonly entity_id?: SentText },
): Answer<Asked> {
  const opId = readParsed(field, sentOpId, OPERATION_ID)
  if (isFault(opId)) return opId
  const entityId = readParsed('entity_id', sentEntityId, ENTITY_ID)
  if (isFault(entityId)) return entityId
  if (opId !== undefined && entityId === undefined) return { kind: 'operation', opId }
  if (entityId !== undefined && opId === undefined) return { kind: 'entity', entityId }
  return invalid(field, 'or entity_id must be sent, and not both')
}

/** The receipts of an entry, whose devices have the names by which the owner knows them. */
export interface NamedReceipts extends Pick<EntryReceipts, 'entry'> {
  readonly subscribers: readonly (Receipt & { readonly subscriberId: string })[]
}

const countOf =
  (state: ReceiptState) =>
  ({ subscribers }: Pick<NamedReceipts, 'subscribers'>): number =>
    subscribers.filter((receipt) => receipt.state === state).length

type OfEntry = Pick<NamedReceipts, 'entry'>

const OPERATION = requiredText('The operation of the entry.', trimmed(OPERATION_ID_FORM))
const ENTITY = requiredText(
  'The Message, Event or Thing: its newest entry.',
  trimmed(ENTITY_ID_FORM),
)

export const RECEIPTS = routes('Reading', 'Receipts', {
  list: post('/delivery/receipts', 'Tell which devices got an entry', {
    request: eitherOf(
      object(
        {
          ...CREDENTIALS,
          op_id: read(
            text('The operation of the entry. Exactly one of op_id and entity_id.'),
            readAsked,
            'asked',
          ),
          entity_id: text('The Message, Event or Thing: its newest entry.'),
        },
        ['channel_id', 'password'],
      ),
      [
        { ...object({ op_id: OPERATION, entity_id: ABSENT }, ['op_id']), title: 'By operation' },
        { ...object({ op_id: ABSENT, entity_id: ENTITY }, ['entity_id']), title: 'By entity' },
      ],
    ),
    data: whole({
      op_id: computed(
        given('string', 'The operation that made the entry.'),
        ({ entry }: OfEntry) => entry.opId as string,
      ),
      seq: computed(given('integer', 'Its number in the feed.'), ({ entry }: OfEntry) => entry.seq),
      model: computed(oneOf(MODELS, 'Its model.'), ({ entry }: OfEntry) => entry.model),
      entity_id: computed(
        given('string', 'The Message, Event or Thing.'),
        ({ entry }: OfEntry) => entry.entityId as string,
      ),
      accepted_at: computed(
        given('integer', 'Unix milliseconds.'),
        ({ entry }: OfEntry) => entry.acceptedAt,
      ),
      subscribers: list(
        object(
          {
            subscriber_id: SUBSCRIBER_ID,
            label: DEVICE_LABEL,
            platform: oneOf(PLATFORMS, 'As the device registered.'),
            channel_type: oneOf(CHANNEL_TYPES, 'The route to the device.'),
            state: oneOf(
              RECEIPT_STATES,
              'acknowledged: the device has read so far. pushed: a provider took the push. ' +
                'waiting: neither yet. failed: the provider refused the push. filtered: the ' +
                'preferences of the device left it out. later: it subscribed after the entry.',
            ),
          },
          ['subscriber_id', 'platform', 'channel_type', 'state'],
        ),
        'The one that subscribed first comes first.',
      ),
      acknowledged: computed(
        given('integer', 'Devices that have acknowledged it.'),
        countOf('acknowledged'),
      ),
      waiting: computed(given('integer', 'Devices for which it waits.'), countOf('waiting')),
    }),
    codes: [...KEYED, 'send_status_not_found', 'entity_not_found'],
  }),
})
