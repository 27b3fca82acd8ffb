// Tools that read: Things and the progress of operations.

import { isFault } from '#domain/fault'
import type { Acceptance } from '#src/acceptance/acceptance'
import { operationToWire, pageToWire, thingToWire } from '#src/schemas/answers'
import { object, requiredText } from '#src/schemas/json-schema'
import { READING_ROUTES } from '#src/schemas/reading-schemas'
import { STATUS_ROUTES } from '#src/schemas/submission-schemas'
import { READS } from './tool.ts'
import type { Tool } from './tool.ts'

const STATUS_REQUEST = object(
  { op_id: requiredText('From the answer of the tool that submitted.') },
  ['op_id'],
)

export interface ReadingPorts {
  readonly acceptance: Pick<Acceptance, 'state' | 'statuses'>
  readonly statusRetentionMs: number
}

export function readingTools({ acceptance, statusRetentionMs }: ReadingPorts): readonly Tool[] {
  const { state, statuses } = acceptance
  const reads = { annotations: READS, scopes: ['mcp:tools'] } as const
  return [
    {
      ...reads,
      name: 'thing_get',
      title: 'Get a Thing',
      description: 'Gives the present state of one Thing.',
      body: READING_ROUTES['/thing/get'].request,
      output: READING_ROUTES['/thing/get'].data,
      call: async (fields, call) => {
        const thing = await state.thing(fields, await call.caller())
        return isFault(thing) ? thing : thingToWire(thing)
      },
    },
    {
      ...reads,
      name: 'thing_list',
      title: 'List Things',
      description:
        'Lists the Things of a Channel, newest change first. Call again with cursor set to ' +
        'next_cursor for the next page.',
      body: READING_ROUTES['/thing/list'].request,
      output: READING_ROUTES['/thing/list'].data,
      call: async (fields, call) => {
        const page = await state.things(fields, await call.caller())
        return isFault(page) ? page : pageToWire(page, thingToWire)
      },
    },
    {
      ...reads,
      name: 'operation_status',
      title: 'Get the status of an operation',
      description:
        'Tells how far a submission is. accepted, processing, scheduled and provider_queued go ' +
        'on; sent, partially_failed, failed and cancelled are final, and error_code says why it ' +
        'failed.',
      body: STATUS_REQUEST,
      output: STATUS_ROUTES['GET /send_status/{op_id}'].data,
      call: async ({ op_id: opId }, call) => {
        const found = await statuses.find(typeof opId === 'string' ? opId : '', await call.caller())
        return isFault(found) ? found : operationToWire(found, statusRetentionMs)
      },
    },
  ]
}
