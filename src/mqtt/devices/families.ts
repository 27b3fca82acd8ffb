// Every family of devices whose topics the gateway knows. The first row that takes a publish reads
// it; rows that begin with a word of their own are tried before rows that begin with any level.

import { ESPHOME } from './esphome.ts'
import type { Row } from './family.ts'
import { FRIGATE_TOPICS } from './frigate.ts'
import { DISCOVERED, HOME_ASSISTANT } from './home-assistant.ts'
import { HOMIE } from './homie.ts'
import { LORAWAN } from './lorawan.ts'
import { SHELLY } from './shelly.ts'
import { SPARKPLUG } from './sparkplug.ts'
import { TASMOTA } from './tasmota.ts'
import { THINGSBOARD } from './thingsboard.ts'
import { ZIGBEE2MQTT } from './zigbee2mqtt.ts'

export const FAMILIES: readonly Row[] = [
  ...TASMOTA,
  ...ZIGBEE2MQTT,
  ...LORAWAN,
  ...THINGSBOARD,
  ...FRIGATE_TOPICS,
  ...SPARKPLUG,
  ...HOME_ASSISTANT,
  ...HOMIE,
  ...ESPHOME,
  ...SHELLY,
  ...DISCOVERED,
]
