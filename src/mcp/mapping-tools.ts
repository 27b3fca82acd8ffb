// A tool about the mappings of a channel.

import { isFault } from '#domain/fault'
import type { Acceptance } from '#src/acceptance/acceptance'
import { mappingsToWire } from '#src/schemas/mappings/mapping'
import { MAPPING_ROUTES } from '#src/schemas/mappings/mapping-schemas'
import { ENDS } from './tool.ts'
import type { Tool } from './tool.ts'

const { request, data } = MAPPING_ROUTES['/channel/mappings']

export const mappingTools = ({ mappings }: Pick<Acceptance, 'mappings'>): readonly Tool[] => [
  {
    name: 'channel_mappings',
    title: 'Show or set what MQTT topics become',
    description:
      'Without mappings, shows those of a Channel and the ten newest MQTT topics that nothing ' +
      'takes. With mappings, replaces all of them: send the present ones along. A mapping is {' +
      '"topic": "home/+room/+device/state", "thing": "{room}-{device}", "time", "prefix", "kind"}.',
    annotations: ENDS,
    scopes: ['mcp:tools'],
    body: request,
    output: data,
    call: async (fields, call) => {
      const found = await mappings.use(fields, await call.caller())
      return isFault(found) ? found : mappingsToWire(found)
    },
  },
]
