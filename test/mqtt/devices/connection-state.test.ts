// Goal: what a connection said before decides how it is read: discovery, descriptions, loss of a root.
// Method: the publishes of one connection as a row, and what the last one becomes.

import test from 'ava'
import * as fc from 'fast-check'

import { isFault } from '#domain/fault'
import { entityIdOf, ownThingId } from '#src/mqtt/devices/entity-name'
import { translate } from '#src/mqtt/devices/translate'
import { connectionOf, outcomeOf, publishOf } from '#test/support/device-publish'
import type { Payload } from '#test/support/device-publish'

const BEDROOM = {
  dev: { ids: 'ea334450945afc', name: 'Kitchen', mf: 'Bla electronics', mdl: 'xya', sw: '1.0' },
  cmps: {
    t1: {
      p: 'sensor',
      device_class: 'temperature',
      unit_of_measurement: '°C',
      value_template: '{{ value_json.temperature}}',
    },
    h1: {
      p: 'sensor',
      device_class: 'humidity',
      unit_of_measurement: '%',
      value_template: "{{ value_json['humidity'] }}",
    },
    p1: { p: 'sensor', value_template: '{{ value_json.x | float }}' },
  },
  state_topic: 'sensorBedroom/state',
  avty_t: 'sensorBedroom/life',
}
const CONFIG = ['homeassistant/device/kitchen/config', BEDROOM] as const
const LISTED = [
  'homeassistant/light/lamp/config',
  {
    '~': 'lamp',
    stat_t: '~/state',
    avty: [{ t: 'bridge/life' }, { t: '~/life', val_tpl: '{{ value_json.state }}' }],
    dev: { ids: ['lamp'] },
  },
] as const
const FLOAT = {
  homie: '5.0',
  root: 'car',
  nodes: { e: { properties: { s: { datatype: 'string' }, j: { datatype: 'json' } } } },
}

type Sent = readonly (readonly [topic: string, payload: Payload])[]
const rows: readonly (readonly [what: string, sent: Sent, expected: readonly object[] | string])[] =
  [
    [
      'a discovered device is a Thing with names, units and classes',
      [CONFIG],
      [
        {
          update: 'ea334450945afc',
          title: 'Kitchen',
          external_ids: { identifier: 'ea334450945afc' },
          attrs: {
            manufacturer: 'Bla electronics',
            model: 'xya',
            sw_version: '1.0',
            'temperature.unit': '°C',
            'temperature.class': 'temperature',
            'humidity.unit': '%',
            'humidity.class': 'humidity',
          },
        },
      ],
    ],
    [
      'values of a discovered topic go to their Thing',
      [CONFIG, ['sensorBedroom/state', '{"temperature":23.2,"humidity":43.7,"other":1}']],
      [{ update: 'ea334450945afc', attrs: { temperature: 23.2, humidity: 43.7 } }],
    ],
    [
      'the availability topic of a discovered device sets online',
      [CONFIG, ['sensorBedroom/life', 'offline']],
      [{ update: 'ea334450945afc', attrs: { online: false } }],
    ],
    [
      'each topic of a list of availabilities sets online',
      [LISTED, ['bridge/life', 'online'], ['lamp/life', '{"state":"offline"}']],
      [{ update: 'lamp', attrs: { online: false } }],
    ],
    [
      'the first topic of a list of availabilities counts as well',
      [LISTED, ['bridge/life', 'offline']],
      [{ update: 'lamp', attrs: { online: false } }],
    ],
    [
      'a configuration that is taken back is forgotten',
      [CONFIG, [CONFIG[0], ''], ['sensorBedroom/state', '{"temperature":23.2}']],
      'nothing takes the topic',
    ],
    [
      'a payload of a discovered topic that is not JSON is refused',
      [CONFIG, ['sensorBedroom/state', 'cold']],
      'validation_failed payload',
    ],
    [
      'what a discovered topic does not hold changes nothing',
      [CONFIG, ['sensorBedroom/state', '{}']],
      [],
    ],
    [
      'where a table reads the topic, name and unit go to its attr',
      [
        [
          'homeassistant/sensor/attic/temp/config',
          {
            name: 'Attic',
            unit_of_meas: '°C',
            stat_t: 'attic/sensor/temp/state',
            dev: { ids: ['x'], name: 'Attic node' },
          },
        ],
      ],
      [
        {
          update: 'attic',
          title: 'Attic node',
          external_ids: { identifier: 'x' },
          attrs: { 'sensor.temp.name': 'Attic', 'sensor.temp.unit': '°C' },
        },
      ],
    ],
    [
      'a text property of Homie stays text',
      [
        ['homie/5/wheel/$description', FLOAT],
        ['homie/5/wheel/e/s', '21.5'],
      ],
      [{ update: 'wheel', attrs: { 'e.s': '21.5' } }],
    ],
    [
      'a JSON property of Homie is JSON',
      [
        ['homie/5/wheel/$description', FLOAT],
        ['homie/5/wheel/e/j', '[1]'],
      ],
      [{ update: 'wheel', attrs: { 'e.j': [1] } }],
    ],
    [
      'children inherit the loss of their root',
      [
        ['homie/5/wheel/$description', FLOAT],
        ['homie/5/car/$state', 'lost'],
      ],
      [
        { update: 'car', attrs: { online: false, state: 'lost' } },
        { update: 'wheel', attrs: { online: false, state: 'lost' } },
      ],
    ],
    [
      'children of another root stay',
      [
        ['homie/5/wheel/$description', FLOAT],
        ['homie/5/bus/$state', 'lost'],
      ],
      [{ update: 'bus', attrs: { online: false, state: 'lost' } }],
    ],
  ]

for (const [what, sent, expected] of rows) {
  test(what, (t) => t.deepEqual(outcomeOf(sent), expected))
}

test('a copy that a broker kept changes Things and repeats no Message', (t) => {
  const publish = publishOf('zigbee2mqtt/b', '{"action":"single","battery":80}')
  const outcome = translate({ ...publish, isKeptCopy: true }, connectionOf())
  const models = isFault(outcome) ? [] : outcome?.wishes.map(({ intent }) => intent.model)
  t.deepEqual(models, ['thing'])
})

test('two names have two ids, and each is an id', (t) => {
  const name = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 90 }),
    fc.string({ unit: fc.constantFrom('a', '/', ':', '_', ' '), minLength: 1, maxLength: 4 }),
  )
  fc.assert(
    fc.property(name, name, (one, other) => {
      t.regex(entityIdOf(one), /^[A-Za-z0-9_:-]{1,64}$/)
      return one === other || entityIdOf(one) !== entityIdOf(other)
    }),
    { numRuns: 2_000 },
  )
})

const clients: readonly (readonly [Parameters<typeof ownThingId>[0], string])[] = [
  [{ clientId: 'c1' }, 'c1'],
  [{ clientId: 'c1', label: 'Pump 1' }, 'Pump_1-903e10f0'],
  [{ clientId: 'c1', label: 'pump', thingPrefix: 'hall-' }, 'hall-pump'],
  [{ clientId: 'c1', label: 'pump', thingPrefix: 'hall' }, 'hall'],
]
for (const [client, expected] of clients) {
  test(`the Thing of ${JSON.stringify(client)} is ${expected}`, (t) => {
    t.is(ownThingId(client), expected)
  })
}
