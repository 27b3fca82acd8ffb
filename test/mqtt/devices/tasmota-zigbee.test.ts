// Goal: what devices publish becomes the submissions that their owners expect, and what they never
// publish is refused with the member at fault.
// Method: one row a publish of a new connection: topic, payload, and what it becomes.

import { NO_BYTES, REFUSED, NO_OBJECT, UNKNOWN, note, testEach } from '#test/support/device-publish'
import type { PublishRow } from '#test/support/device-publish'

const tasmota: readonly PublishRow[] = [
  ['tele/tasmota_3D5E26/LWT', 'Online', [{ update: 'tasmota_3D5E26', attrs: { online: true } }]],
  ['tele/tasmota_3D5E26/LWT', 'Offline', [{ update: 'tasmota_3D5E26', attrs: { online: false } }]],
  [
    'tele/tasmota/SENSOR',
    '{"Time":"2019-11-03T19:34:28","BME280":{"Temperature":21.7,"Humidity":66.6,"Pressure":988.6},"PressureUnit":"hPa","TempUnit":"C"}',
    [
      {
        update: 'tasmota',
        attrs: {
          'BME280.Temperature': 21.7,
          'BME280.Humidity': 66.6,
          'BME280.Pressure': 988.6,
          PressureUnit: 'hPa',
          TempUnit: 'C',
        },
      },
    ],
  ],
  [
    'tele/tasmota/SENSOR',
    '{"Time":"2017-02-16T10:13:52+01:00","DS18B20":{"Temperature":20.6}}',
    [{ update: 'tasmota', attrs: { 'DS18B20.Temperature': 20.6 }, at: 1_487_236_432_000 }],
  ],
  [
    'tele/plug/SENSOR',
    '{"Time":"2021-10-26T17:28:45","ENERGY":{"TotalStartTime":"2021-10-25T15:22:04","Total":9098.245,"Yesterday":6822.685,"Today":2275.560,"Period": 9,"Power":170,"Current":1.000,"Load":6},"ESP32":{"Temperature":36.1},"TempUnit":"C"}',
    [
      {
        update: 'plug',
        attrs: {
          'ENERGY.TotalStartTime': '2021-10-25T15:22:04',
          'ENERGY.Total': 9098.245,
          'ENERGY.Yesterday': 6822.685,
          'ENERGY.Today': 2275.56,
          'ENERGY.Period': 9,
          'ENERGY.Power': 170,
          'ENERGY.Current': 1,
          'ENERGY.Load': 6,
          'ESP32.Temperature': 36.1,
          TempUnit: 'C',
        },
      },
    ],
  ],
  [
    'tele/tasmota/STATE',
    '{"Time":"2019-10-31T11:14:59","Uptime":"0T18:36:12","UptimeSec":66972,"POWER":"OFF","Wifi":{"AP":1,"RSSI":100}}',
    [
      {
        update: 'tasmota',
        attrs: {
          Uptime: '0T18:36:12',
          UptimeSec: 66_972,
          POWER: false,
          'Wifi.AP': 1,
          'Wifi.RSSI': 100,
        },
      },
    ],
  ],
  ['stat/tasmota/RESULT', '{"POWER":"ON"}', [{ update: 'tasmota', attrs: { POWER: true } }]],
  ['stat/tasmota/POWER', 'ON', [{ update: 'tasmota', attrs: { POWER: true } }]],
  ['tele/tasmota/POWER_LOW', 'ON', [{ update: 'tasmota', attrs: { POWER_LOW: true } }]],
  ['tasmota/plug/tele/SENSOR', '{"A":1}', [{ update: 'plug', attrs: { A: 1 } }]],
  ['home/plug/stat/POWER1', 'OFF', [{ update: 'home:plug', attrs: { POWER1: false } }]],
  ['home/plug/tele/LWT', 'Offline', [{ update: 'home:plug', attrs: { online: false } }]],
  [
    'tele/Zigbee/5ADF/SENSOR',
    '{"ZbReceived":{"0x5ADF":{"Dimmer":254,"Endpoint":1,"LinkQuality":70}}}',
    [{ update: '0x5ADF', attrs: { Dimmer: 254, Endpoint: 1, LinkQuality: 70 } }],
  ],
  [
    'tele/Zigbee/SENSOR',
    '{"ZbReceived":{"0x2916":{"Device":"0x2916","Name":"SNZB-02","Temperature":26.27,"Endpoint":1,"LinkQuality":105}}}',
    [
      {
        update: '0x2916',
        attrs: {
          Device: '0x2916',
          Name: 'SNZB-02',
          Temperature: 26.27,
          Endpoint: 1,
          LinkQuality: 105,
        },
      },
    ],
  ],
  [
    'tasmota/discovery/5CCF7F3D5E26/config',
    '{"ip":"192.0.2.15","dn":"Plug","mac":"5CCF7F3D5E26","md":"Basic","t":"plug","ft":"%prefix%/%topic%/"}',
    [
      {
        update: 'plug',
        title: 'Plug',
        external_ids: { mac: '5CCF7F3D5E26' },
        attrs: { model: 'Basic', ip: '192.0.2.15' },
      },
    ],
  ],
  ['tasmota/discovery/5CCF7F3D5E26/sensors', '{}', []],
  ['tele/tasmota/SENSOR', '', []],
  ['tele/tasmota/SENSOR', '[1]', NO_OBJECT],
  ['tele/tasmota/SENSOR', NO_BYTES, REFUSED],
  ['tele/tasmota/SENSOR', ' {"Time":"2019', REFUSED],
  ['cmnd/tasmota/POWER', 'ON', UNKNOWN],
  ['home/plug/tele/sensor', '{"A":1}', UNKNOWN],
]

const zigbee2mqtt: readonly PublishRow[] = [
  [
    'zigbee2mqtt/FRIENDLY_NAME',
    '{"temperature":27.34,"humidity":44.72}',
    [{ update: 'FRIENDLY_NAME', attrs: { temperature: 27.34, humidity: 44.72 } }],
  ],
  [
    'zigbee2mqtt/hall/button',
    '{"action":"single","battery":80}',
    [
      { update: 'hall:button', attrs: { battery: 80 } },
      note('hall:button', 'hall/button: single', { metadata: { action: 'single' } }),
    ],
  ],
  ['zigbee2mqtt/button', '{"action":""}', []],
  ['zigbee2mqtt/pir', '{"occupancy":true}', [{ update: 'pir', attrs: { occupancy: true } }]],
  [
    'zigbee2mqtt/bulb',
    '{"state":"ON","brightness":215,"color_temp":325,"last_seen":"2026-03-01T00:00:00.000Z"}',
    [
      {
        update: 'bulb',
        attrs: { state: true, brightness: 215, color_temp: 325 },
        at: Date.UTC(2026, 2, 1),
      },
    ],
  ],
  ['zigbee2mqtt/my_bulb/state', 'ON', [{ update: 'my_bulb', attrs: { state: true } }]],
  ['zigbee2mqtt/a/b/availability', 'online', [{ update: 'a:b', attrs: { online: true } }]],
  ['zigbee2mqtt/a/b', '', []],
  [
    'zigbee2mqtt/b/availability',
    '{"state":"offline"}',
    [{ update: 'b', attrs: { online: false } }],
  ],
  ['zigbee2mqtt/b/availability', '{"state":"maybe"}', 'validation_failed state'],
  ['zigbee2mqtt/b/availability', '', []],
  ['zigbee2mqtt/bridge/state', 'online', [{ update: 'zigbee2mqtt', attrs: { online: true } }]],
  [
    'zigbee2mqtt/bridge/state',
    '{"state":"online"}',
    [{ update: 'zigbee2mqtt', attrs: { online: true } }],
  ],
  [
    'zigbee2mqtt/bridge/event',
    '{"type":"device_joined","data":{"friendly_name":"0x90fd9ffffe6494fc","ieee_address":"0x90fd9ffffe6494fc"}}',
    [note('0x90fd9ffffe6494fc', '0x90fd9ffffe6494fc: device_joined', { tags: ['zigbee2mqtt'] })],
  ],
  ['zigbee2mqtt/bridge/event', '{"type":"device_announce","data":{}}', []],
  ['zigbee2mqtt/bridge/event', '{"data":{}}', 'validation_failed type'],
  ['zigbee2mqtt/bridge/event', '{"type":"device_joined"}', 'validation_failed data.friendly_name'],
  [
    'zigbee2mqtt/bridge/devices',
    '[{"type":"Coordinator","friendly_name":"Coordinator"},{"ieee_address":"0x00158d00018255df","friendly_name":"my_plug","definition":{"model":"ZNCZ02LM","vendor":"Xiaomi"}},{"friendly_name":"x","definition":null}]',
    [
      {
        update: 'my_plug',
        title: 'my_plug',
        external_ids: { ieee_address: '0x00158d00018255df' },
        attrs: { model: 'ZNCZ02LM', vendor: 'Xiaomi' },
      },
      { update: 'x', title: 'x' },
    ],
  ],
  ['zigbee2mqtt/bridge/devices', '{}', REFUSED],
  [
    'zigbee2mqtt/bridge/logging',
    '{"level":"info","message":"Zigbee: allowing new devices to join."}',
    [],
  ],
  [
    'zigbee2mqtt/bridge/logging',
    '{"level":"error","message":"Failed to ping"}',
    [
      {
        message: 'Zigbee2MQTT',
        title: 'Zigbee2MQTT',
        body: 'Failed to ping',
        thing: 'zigbee2mqtt',
      },
    ],
  ],
  ['zigbee2mqtt/bridge/info', '{"version":"2.0"}', []],
  ['zigbee2mqtt/bulb/set', '{"state":"ON"}', []],
  ['zigbee2mqtt/bulb', 'ON', REFUSED],
  ['zigbee2mqtt/bulb', '{"state"', REFUSED],
]

testEach([...tasmota, ...zigbee2mqtt])
