// Goal: a request is read and an answer is written as their schemas say, and in no other way.
// Method: a resource declared here, with each kind of member; the compiler judges the types.

import test from 'ava'

import { fault } from '#domain/fault'
import { given, list, object, requiredText, text, whole } from '#src/schemas/json-schema'
import { computed, read, written } from '#src/schemas/members'
import { post, routes } from '#src/schemas/route'
import { readersOf, request } from '#src/schemas/shape'
import { SUBSCRIBER } from '#src/schemas/subscription-routes'
import { CHANNEL } from '#test/support/making'

const upper = (sent: string, field: string) =>
  sent === sent.toUpperCase() ? sent.length : fault('validation_failed', { field })

const LAMP = routes('Lamps', 'Lamp', {
  light: post('/lamp/light', 'Light a lamp', {
    request: object(
      {
        lamp_id: read(requiredText('The lamp.'), upper),
        colour: read(text('Its colour.'), (sent) => sent ?? undefined),
        place: read(
          text('Where it stands.'),
          (sent, _field, body: { readonly lamp_id: string }) => `${body.lamp_id} ${sent ?? ''}`,
          'standsAt',
        ),
        ignored: text('No reader takes it.'),
      },
      ['lamp_id'],
    ),
    data: object(
      {
        lamp_id: given('string', 'The lamp.'),
        is_on: computed(given('boolean', 'Lit.'), ({ watts }: { watts: number }) => watts > 0),
        dimmed_by: given('integer', 'Left out for a lamp that is not.'),
        owners: list(whole({ owner_name: given('string', 'The owner.') }), 'Its owners.'),
        made: written({ type: 'string' }, (unixMs: number) => new Date(unixMs).toISOString()),
      },
      ['lamp_id', 'is_on', 'owners', 'made'],
    ),
  }),
})

const { light } = readersOf(LAMP)

test('a request gives what the readers in its schema make of it, under the names of the code', (t) => {
  t.deepEqual(light({ lamp_id: 'A', place: 'hall', ignored: 'x', unknown: 1 }), {
    lampId: 1,
    standsAt: 'A hall',
  })
  t.deepEqual(light({ lamp_id: 'A', colour: 'red' }), { lampId: 1, colour: 'red', standsAt: 'A ' })
})

test('a reader is called with JSON of its type alone, and its refusal names the member', (t) => {
  t.like(light({}), { code: 'validation_failed', field: 'lamp_id' })
  t.like(light({ lamp_id: 5 }), { code: 'invalid_json_data', field: 'lamp_id' })
  t.like(light({ lamp_id: 'a', colour: 5 }), { code: 'invalid_json_data', field: 'colour' })
  t.like(light({ lamp_id: 'a' }), { code: 'validation_failed', field: 'lamp_id' })
})

test('further readers come behind those of the members', (t) => {
  const both = request(LAMP.light.request, {
    colours: (body) => (body.colour === 'red' ? fault('validation_failed') : [body.colour]),
  })
  t.like(both({ lamp_id: 'A', colour: 'blue' }), { lampId: 1, colours: ['blue'] })
  t.like(both({ lamp_id: 'a', colour: 'red' }), { field: 'lamp_id' })
  t.deepEqual(both({ lamp_id: 'A', colour: 'red' }), fault('validation_failed'))
})

const lamp = { lampId: 'A', watts: 5, owners: [{ ownerName: 'Ada', secret: 's' }], made: 0 }

test('an answer has the members that its schema names, and no other', (t) => {
  const wire = {
    lamp_id: 'A',
    is_on: true,
    owners: [{ owner_name: 'Ada' }],
    made: '1970-01-01T00:00:00.000Z',
  }
  t.deepEqual(LAMP.light.write(lamp), wire)
  t.deepEqual(LAMP.light.write({ ...lamp, dimmedBy: 3 }), { ...wire, dimmed_by: 3 })
  // @ts-expect-error The data of an answer has every member that is always there.
  LAMP.light.write({ lampId: 'A', watts: 5, made: 0, owners: undefined })
})

test('a list of subscribers tells nothing by which a device is known elsewhere', (t) => {
  const subscriber = {
    subscriberId: 's',
    deviceId: 'secret',
    platform: 'ios',
    channelType: 'apns',
    subscribedAt: 1,
    seenAt: 0,
  } as const
  t.deepEqual(SUBSCRIBER.list.write({ channelId: CHANNEL, subscribers: [subscriber] }), {
    channel_id: CHANNEL,
    subscribers: [
      {
        subscriber_id: 's',
        platform: 'ios',
        channel_type: 'apns',
        subscribed_at: 1,
        last_seen_on: '1970-01-01',
      },
    ],
  })
})

test('a route has the operation of its verb and noun, and the codes of its members', (t) => {
  t.is(LAMP.light.operation, 'lightLamp')
  t.deepEqual(LAMP.light.codes, ['validation_failed'])
})
