// Goal: what devices publish becomes the submissions that their owners expect, and what they never
// publish is refused with the member at fault.
// Method: one row a publish of a new connection: topic, payload, and what it becomes.

import { NO_BYTES, REFUSED, NO_OBJECT, UNKNOWN, note, testEach } from '#test/support/device-publish'
import type { PublishRow } from '#test/support/device-publish'

const esphome: readonly PublishRow[] = [
  ['attic/status', 'online', [{ update: 'attic', attrs: { online: true } }]],
  ['home/attic/status', 'offline', [{ update: 'home:attic', attrs: { online: false } }]],
  ['attic/sensor/temp/state', '21.5', [{ update: 'attic', attrs: { 'sensor.temp': 21.5 } }]],
  ['attic/sensor/temp/state', 'nan', [{ update: 'attic', attrs: { 'sensor.temp': null } }]],
  ['attic/switch/fan/state', 'ON', [{ update: 'attic', attrs: { 'switch.fan': true } }]],
  [
    'attic/light/desk/state',
    '{"state":"ON","brightness":255}',
    [{ update: 'attic', attrs: { 'light.desk.state': true, 'light.desk.brightness': 255 } }],
  ],
  [
    'attic/climate/hp/mode/state',
    'heat',
    [{ update: 'attic', attrs: { 'climate.hp.mode': 'heat' } }],
  ],
  ['attic/debug', '[I][main:1]: up', []],
  [
    'esphome/discover/esp32-test',
    '{"ip":"192.168.0.122","name":"esp32-test","friendly_name":"Test Device","port":6053,"version":"2024.4.1","mac":"84fce6123456","platform":"ESP32","board":"esp32-c3-devkitm-1","network":"wifi","api_encryption":"Noise_NNpsk0_25519_ChaChaPoly_SHA256"}',
    [
      {
        update: 'esp32-test',
        title: 'Test Device',
        external_ids: { mac: '84fce6123456' },
        attrs: {
          ip: '192.168.0.122',
          port: 6053,
          version: '2024.4.1',
          platform: 'ESP32',
          board: 'esp32-c3-devkitm-1',
          network: 'wifi',
          api_encryption: 'Noise_NNpsk0_25519_ChaChaPoly_SHA256',
        },
      },
    ],
  ],
  ['attic/sensor/temp/state', NO_BYTES, REFUSED],
  ['attic/sensor/temp/state', '[1]', NO_OBJECT],
  ['attic/sensors/temp/state', '21.5', UNKNOWN],
  ['attic/status', '{"x":1}', NO_OBJECT],
  ['attic/status', 'fine', UNKNOWN],
]

const shelly: readonly PublishRow[] = [
  ['shellyplus1pm-44/online', 'true', [{ update: 'shellyplus1pm-44', attrs: { online: true } }]],
  ['home/plug/online', 'false', [{ update: 'home:plug', attrs: { online: false } }]],
  [
    'plug/events/rpc',
    '{"src":"shellyplus1pm-4417939341dc","dst":"shellies/plus1pm/events","method":"NotifyStatus","params":{"ts":1661517432.85,"switch:0":{"id":0,"output":true,"source":"WS_in","errors":null}}}',
    [
      {
        update: 'plug',
        attrs: {
          'switch:0.id': 0,
          'switch:0.output': true,
          'switch:0.source': 'WS_in',
          'switch:0.errors': null,
        },
        at: 1_661_517_432_850,
      },
    ],
  ],
  [
    'plug/events/rpc',
    '{"method":"NotifyStatus","params":{"ts":1.61,"switch:0":{"output":false}}}',
    [{ update: 'plug', attrs: { 'switch:0.output': false } }],
  ],
  [
    'plug/events/rpc',
    '{"src":"shellyi4g3-54320455c858","dst":"x","method":"NotifyEvent","params":{"ts":1735821119.25,"events":[{"component":"sys","event":"config_changed","restart_required":false,"ts":1735821119.25,"cfg_rev":20}]}}',
    [],
  ],
  [
    'plug/events/rpc',
    '{"method":"NotifyEvent","params":{"ts":1735821119.25,"events":[{"component":"input:0","id":0,"event":"single_push","ts":1735821119.5}]}}',
    [
      {
        ...note('plug', 'plug input:0: single_push', {
          metadata: { component: 'input:0', event: 'single_push' },
        }),
        at: 1_735_821_119_500,
      },
    ],
  ],
  [
    'plug/status/switch:0',
    '{"id":0, "source":"init", "output":false, "apower":0.0, "voltage":232.7, "current":0.000, "aenergy":{"total":0.000,"by_minute":[0.000,0.000,0.000],"minute_ts":1661517385},"temperature":{"tC":39.2, "tF":102.5}}',
    [
      {
        update: 'plug',
        attrs: {
          'switch:0.id': 0,
          'switch:0.source': 'init',
          'switch:0.output': false,
          'switch:0.apower': 0,
          'switch:0.voltage': 232.7,
          'switch:0.current': 0,
          'switch:0.aenergy.total': 0,
          'switch:0.aenergy.by_minute': [0, 0, 0],
          'switch:0.aenergy.minute_ts': 1_661_517_385,
          'switch:0.temperature.tC': 39.2,
          'switch:0.temperature.tF': 102.5,
        },
      },
    ],
  ],
  [
    'plug/status/sys',
    '{"mac":"4417939341DC","time":"14:36","unixtime":1661517398,"uptime":15}',
    [
      {
        update: 'plug',
        attrs: {
          'sys.mac': '4417939341DC',
          'sys.time': '14:36',
          'sys.unixtime': 1_661_517_398,
          'sys.uptime': 15,
        },
      },
    ],
  ],
  ['plug/events/rpc', '{"params":{}}', 'validation_failed method'],
  ['plug/events/rpc', '{"method":"NotifyStatus"}', 'validation_failed params'],
  ['plug/events/rpc', '{"method":"NotifyEvent","params":{}}', 'validation_failed params.events'],
  ['plug/events/rpc', 'x', REFUSED],
  ['plug/status/switch:0', '7', NO_OBJECT],
  ['plug/online', 'perhaps', UNKNOWN],
  ['shellies/shelly1/relay/0', 'on', [{ update: 'shelly1', attrs: { 'relay.0': true } }]],
  [
    'shellies/shellyem3/emeter/0/power',
    '0.00',
    [{ update: 'shellyem3', attrs: { 'emeter.0.power': 0 } }],
  ],
  [
    'shellies/shelly1/input_event/0',
    '{"event":"S","event_cnt":2}',
    [{ update: 'shelly1', attrs: { 'input_event.0.event': 'S', 'input_event.0.event_cnt': 2 } }],
  ],
  [
    'shellies/announce',
    '{"id":"shelly1","model":"SHSW-1","mac":"8CAAB54B98DF"}',
    [{ update: 'shelly1', external_ids: { mac: '8CAAB54B98DF' }, attrs: { model: 'SHSW-1' } }],
  ],
  ['shellies/announce', '{"model":"SHSW-1"}', 'validation_failed id'],
  ['shellies/shelly1/online', 'false', [{ update: 'shelly1', attrs: { online: false } }]],
]

testEach([...esphome, ...shelly])
