// Goal: a configuration of Home Assistant's discovery says which words of a device are true, which
// topics bring a value, and which components are none.
// Method: the publishes of one connection as a row, and what the last one becomes.

import test from 'ava'

import { outcomeOf } from '#test/support/device-publish'
import type { Payload } from '#test/support/device-publish'

/** As Valetudo and bridges of Homie announce. */
const VACUUM = [
  'homeassistant/device/robot/config',
  {
    dev: { ids: ['robot'] },
    avty_t: 'valetudo/robot/$state',
    pl_avail: 'ready',
    pl_not_avail: 'lost',
    cmps: {
      level: { p: 'sensor', stat_t: 'valetudo/robot/level' },
      gone: { p: 'sensor' },
    },
    stat_t: 'valetudo/robot/state',
  },
] as const
/** As OpenMQTTGateway and Theengs announce a tag that any of their gateways may hear. */
const TAG = [
  'homeassistant/sensor/E69F-tempc/config',
  {
    stat_t: '+/+/BTtoMQTT/E69F',
    name: 'Ruuvi-tempc',
    unit_of_meas: '°C',
    val_tpl: '{{ value_json.tempc | is_defined }}',
    device: { ids: ['E69F'] },
  },
] as const
const doorOf = (states: object, template?: string) =>
  [
    'homeassistant/binary_sensor/door/config',
    {
      dev: { ids: 'hall' },
      stat_t: 'hall/door',
      ...states,
      ...(template && { val_tpl: template }),
    },
  ] as const
type Sent = readonly (readonly [topic: string, payload: Payload])[]
const rows: readonly (readonly [what: string, sent: Sent, expected: readonly object[] | string])[] =
  [
    [
      'availability has the words that the configuration gives it',
      [VACUUM, ['valetudo/robot/$state', 'ready']],
      [{ update: 'robot', attrs: { online: true } }],
    ],
    [
      'the word for unavailable is one of the configuration too',
      [VACUUM, ['valetudo/robot/$state', 'lost']],
      [{ update: 'robot', attrs: { online: false } }],
    ],
    [
      'a word that says nothing of availability changes nothing',
      [VACUUM, ['valetudo/robot/$state', 'init']],
      [],
    ],
    [
      'a component that is no more than its platform is none',
      [VACUUM, ['valetudo/robot/state', 'docked']],
      'nothing takes the topic',
    ],
    [
      'a topic with wildcards takes what any gateway hears',
      [TAG, ['home/OMG_1/BTtoMQTT/E69F', { id: 'E6:9F', tempc: 21.5, rssi: -60 }]],
      [{ update: 'E69F', attrs: { tempc: 21.5 } }],
    ],
    [
      'a value that is not defined changes nothing',
      [TAG, ['home/OMG_1/BTtoMQTT/E69F', { rssi: -60 }]],
      [],
    ],
    [
      'a wildcard is one level',
      [TAG, ['home/floor/OMG_1/BTtoMQTT/E69F', { tempc: 21.5 }]],
      'nothing takes the topic',
    ],
    [
      'a topic that ends in a wildcard is not followed',
      [
        ['homeassistant/sensor/a/config', { stat_t: 'a/+', dev: { ids: 'a' } }],
        ['a/b', '1'],
      ],
      'nothing takes the topic',
    ],
    [
      'a state has the words that the configuration gives it',
      [doorOf({ pl_on: 'open', pl_off: 'closed' }), ['hall/door', 'open']],
      [{ update: 'hall', attrs: { door: true } }],
    ],
    [
      'the words of a state may be numbers, and what is neither stays',
      [doorOf({ payload_on: 1, payload_off: '0' }), ['hall/door', '0']],
      [{ update: 'hall', attrs: { door: false } }],
    ],
    [
      'a state that is neither on nor off stays as it is',
      [doorOf({ payload_on: 1, payload_off: 0 }), ['hall/door', 'jammed']],
      [{ update: 'hall', attrs: { door: 'jammed' } }],
    ],
    [
      'the words of a state may turn truth round',
      [
        doorOf({ pl_on: false, pl_off: true }, '{{ value_json.contact }}'),
        ['hall/door', { contact: false }],
      ],
      [{ update: 'hall', attrs: { contact: true } }],
    ],
    [
      'the words of a state are others than those of its commands',
      [doorOf({ pl_on: 'OPEN', stat_on: 'opened', pl_off: 'CLOSE' }), ['hall/door', 'opened']],
      [{ update: 'hall', attrs: { door: true } }],
    ],
    [
      'a program for the state of a light leaves the state out',
      [
        [
          'homeassistant/light/wled/config',
          { '~': 'wled/a', stat_t: '~/g', stat_val_tpl: '{% if value == "0" %}OFF{% endif %}' },
        ],
        ['wled/a/g', '128'],
      ],
      'nothing takes the topic',
    ],
  ]

for (const [what, sent, expected] of rows) {
  test(what, (t) => t.deepEqual(outcomeOf(sent), expected))
}
