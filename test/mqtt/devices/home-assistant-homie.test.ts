// Goal: what devices that describe themselves publish becomes the right submissions, and what they never
// publish is refused with the member at fault.
// Method: one row a publish of a new connection: topic, payload, and what it becomes.

import { NO_BYTES, REFUSED, NO_OBJECT, UNKNOWN, testEach } from '#test/support/device-publish'
import type { PublishRow } from '#test/support/device-publish'

const ha = 'homeassistant'
const homeAssistant: readonly PublishRow[] = [
  [
    `${ha}/sensor/sensorBedroomT/config`,
    '{"device_class":"temperature","name":"Temperature","state_topic":"homeassistant/sensor/sensorBedroom/state","unit_of_measurement":"°C","value_template":"{{ value_json.temperature}}"}',
    [
      {
        update: 'sensorBedroom',
        attrs: {
          'temperature.name': 'Temperature',
          'temperature.unit': '°C',
          'temperature.class': 'temperature',
        },
      },
    ],
  ],
  [
    `${ha}/sensor/sensorBedroom/state`,
    '{"temperature":23.20,"humidity":43.70}',
    [{ update: 'sensorBedroom', attrs: { temperature: 23.2, humidity: 43.7 } }],
  ],
  [
    `${ha}/binary_sensor/garden/config`,
    '{"name":"garden","device_class":"motion","state_topic":"homeassistant/binary_sensor/garden/state"}',
    [
      {
        update: 'garden',
        title: 'garden',
        attrs: { 'state.name': 'garden', 'state.class': 'motion' },
      },
    ],
  ],
  [`${ha}/binary_sensor/garden/state`, 'ON', [{ update: 'garden', attrs: { state: true } }]],
  [
    `${ha}/switch/irrigation/config`,
    '{"~":"homeassistant/switch/irrigation","name":"garden","cmd_t":"~/set","stat_t":"~/state"}',
    [{ update: 'irrigation', title: 'garden', attrs: { 'state.name': 'garden' } }],
  ],
  [`${ha}/status`, 'online', []],
  [`${ha}/sensor/x/config`, '', []],
  [`${ha}/sensor/x/config`, '{', REFUSED],
  [`${ha}/sensor/x/config`, '[]', NO_OBJECT],
  [`${ha}/device/x/config`, '{"state_topic":"a/b"}', 'validation_failed components'],
  [`${ha}/sensor/x/config`, '{"state_topic":"a/b","val_tpl":"{{ value|float }}"}', []],
  ['sensorBedroom/state', '{"temperature":1}', UNKNOWN],
]

const homie: readonly PublishRow[] = [
  [
    'homie/5/super-car/$state',
    'ready',
    [{ update: 'super-car', attrs: { online: true, state: 'ready' } }],
  ],
  [
    'homie/5/super-car/$state',
    'lost',
    [{ update: 'super-car', attrs: { online: false, state: 'lost' } }],
  ],
  [
    'homie/5/super-car/$description',
    '{"homie":"5.0","name":"Supercar","version":7,"nodes":{"engine":{"name":"Car engine","properties":{"temperature":{"name":"Engine temperature","unit":"°C","datatype":"float"}}}}}',
    [{ update: 'super-car', title: 'Supercar', attrs: { 'engine.temperature.unit': '°C' } }],
  ],
  [
    'homie/5/super-car/engine/temperature',
    '21.5',
    [{ update: 'super-car', attrs: { 'engine.temperature': 21.5 } }],
  ],
  [
    'homie/5/super-car/engine/name',
    new Uint8Array([0]),
    [{ update: 'super-car', attrs: { 'engine.name': '' } }],
  ],
  ['homie/5/super-car/engine/name', '', [{ update: 'super-car', attrs: { 'engine.name': null } }]],
  [
    'homie/5/super-car/engine/hours',
    '9223372036854775807',
    [{ update: 'super-car', attrs: { 'engine.hours': '9223372036854775807' } }],
  ],
  [
    'homie/5/super-car/engine/temperature/$target',
    '22',
    [{ update: 'super-car', attrs: { 'engine.temperature.target': 22 } }],
  ],
  [
    'homie/5/super-car/$alert/battery',
    'low',
    [{ update: 'super-car', attrs: { 'alert.battery': 'low' } }],
  ],
  ['homie/5/super-car/$state', 'flying', REFUSED],
  ['homie/5/super-car/$state', '', []],
  ['homie/5/super-car/$description', '[]', NO_OBJECT],
  ['homie/5/super-car/engine/temperature', NO_BYTES, REFUSED],
  ['homie/5/super-car/engine/temperature/set', '21', UNKNOWN],
  ['homie/5/Super Car/$state', 'ready', UNKNOWN],
]

testEach([...homeAssistant, ...homie])
