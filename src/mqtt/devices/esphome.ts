// ESPHome: one value in each publish, below the prefix of the node.

import { entityIdOf } from './entity-name.ts'
import { level, nothing, object, scalar, value } from './family.ts'
import type { Received, Row } from './family.ts'
import { flattened } from './payload.ts'
import { isRecord } from '#domain/record'
import { described, attrs, attrsOfValue, oneAttr, become } from './wishes.ts'

const TYPE = {
  type:
    'alarm_control_panel|binary_sensor|button|climate|cover|date|datetime|event|fan|light|lock' +
    '|media_player|number|select|sensor|switch|text|text_sensor|time|update|valve|water_heater',
}
const thingOf = (received: Received): string => entityIdOf(level(received, 'prefix'))

const status = scalar((online, received) =>
  typeof online === 'boolean'
    ? become(...attrs(thingOf(received), received.receivedAtMs, { online }))
    : undefined,
)

const state = value((sent, received) => {
  const { type = '', name = '', part } = received.levels
  const attr = [type, name, ...(part === undefined ? [] : [part])].join('.')
  const values = isRecord(sent)
    ? flattened(attrsOfValue(sent, attr), { prefix: `${attr}.` })
    : oneAttr(attr, sent)
  return become(...attrs(thingOf(received), received.receivedAtMs, values))
})

const discovery = object((sent, received) => {
  const { friendly_name: title, mac, name: _name, ...facts } = sent
  const said = { title, ids: { mac }, facts }
  return become(described(entityIdOf(level(received, 'name')), received.receivedAtMs, said))
})

export const ESPHOME: readonly Row[] = [
  { topic: 'esphome/discover/+name', read: discovery },
  { topic: '#prefix/+type/+name/state', where: TYPE, read: state },
  { topic: '#prefix/+type/+name/+part/state', where: TYPE, read: state },
  { topic: '#prefix/status', read: status },
  { topic: '#prefix/debug', read: nothing },
]
