// Tools that read, and those about rules, waiting Messages and mappings.

import type { RuleAction } from '#domain/submission'
import type { Acceptance } from '#src/acceptance/acceptance'
import { acceptedToWire, operationToWire, pageToWire, thingToWire } from '#src/schemas/answers'
import { object, requiredText } from '#src/schemas/json-schema'
import { mappingsToWire } from '#src/schemas/mappings/mapping'
import { MAPPING_ROUTES } from '#src/schemas/mappings/mapping-schemas'
import { MESSAGE_ROUTES } from '#src/schemas/message-schemas'
import { READING_ROUTES } from '#src/schemas/reading-schemas'
import { ruleToWire, triedToWire } from '#src/schemas/rules/rule-requests'
import { RULE_ROUTES } from '#src/schemas/rules/rule-schemas'
import { STATUS_ROUTES } from '#src/schemas/submission-schemas'
import { ENDS, READS, SETS, overRoute } from './tool.ts'
import type { Tool } from './tool.ts'

export interface RoutePorts {
  readonly acceptance: Acceptance
  readonly statusRetentionMs: number
}

/** The tools over the routes that submit no Message, Event or Thing. */
export const routeTools = (ports: RoutePorts): readonly Tool[] => [
  ...readingTools(ports),
  ...changingTools(ports),
  ...ruleReadingTools(ports),
  mappingTool(ports),
]

const STATUS = {
  request: object({ op_id: requiredText('From the answer of the tool that submitted.') }, [
    'op_id',
  ]),
  data: STATUS_ROUTES['GET /send_status/{op_id}'].data,
}

function readingTools({ acceptance, statusRetentionMs }: RoutePorts): readonly Tool[] {
  const { state, statuses } = acceptance
  return [
    {
      name: 'thing_get',
      title: 'Get a Thing',
      description: 'Gives the present state of one Thing.',
      annotations: READS,
      ...overRoute(
        READING_ROUTES['/thing/get'],
        (fields, caller) => state.thing(fields, caller),
        thingToWire,
      ),
    },
    {
      name: 'thing_list',
      title: 'List Things',
      description:
        'Lists the Things of a Channel, newest change first. Call again with cursor set to ' +
        'next_cursor for the next page.',
      annotations: READS,
      ...overRoute(
        READING_ROUTES['/thing/list'],
        (fields, caller) => state.things(fields, caller),
        (page) => pageToWire(page, thingToWire),
      ),
    },
    {
      name: 'operation_status',
      title: 'Get the status of an operation',
      description:
        'Tells how far a submission is. accepted, processing, scheduled and provider_queued go ' +
        'on; sent, partially_failed, failed and cancelled are final, and error_code says why it ' +
        'failed.',
      annotations: READS,
      ...overRoute(
        STATUS,
        ({ op_id: opId }, caller) => statuses.find(typeof opId === 'string' ? opId : '', caller),
        (found) => operationToWire(found, statusRetentionMs),
      ),
    },
  ]
}

const FORM =
  'A rule is {"things": "all" | {"ids"} | {"prefix"} | {"tag"}, "when": condition, "for": "5m", ' +
  '"clear": condition, "event": {"title", "severity"}} with one condition of {"attr", "above"}, ' +
  '{"attr", "below"}, {"attr", "outside": [low, high]}, {"attr", "equals"}, {"silent": "10m"}, ' +
  '{"all": […]}, {"any": […]}, {"not"}, {"cel"}; "message" in place of "event" sends Messages.'

function changingTools({ acceptance, statusRetentionMs }: RoutePorts): readonly Tool[] {
  const { submissions, cancellations } = acceptance
  const submitting = (action: RuleAction) =>
    overRoute(
      RULE_ROUTES[`/rule/${action}`],
      (fields, caller) => submissions.submit({ model: 'rule', action }, fields, caller),
      acceptedToWire,
    )
  return [
    {
      name: 'rule_put',
      title: 'Put a rule',
      description:
        'Makes the gateway watch Things and open an Event, or send a Message, when something is ' +
        `wrong or silent. A rule of the same id is replaced. Try it with rule_test first. ${FORM}`,
      annotations: SETS,
      ...submitting('put'),
    },
    {
      name: 'rule_delete',
      title: 'Delete a rule',
      description: 'Deletes a rule for good, and closes the Events that it opened.',
      annotations: ENDS,
      ...submitting('delete'),
    },
    {
      name: 'message_cancel',
      title: 'Cancel a Message',
      description:
        'Takes back a Message that waits for its delay or deliver_at. Refused when it went; a ' +
        'repeat is safe.',
      annotations: ENDS,
      ...overRoute(
        MESSAGE_ROUTES['/message/cancel'],
        (fields, caller) => cancellations.cancel(fields, caller),
        (cancelled) => operationToWire(cancelled, statusRetentionMs),
      ),
    },
  ]
}

const ruleReadingTools = ({ acceptance: { rules } }: RoutePorts): readonly Tool[] => [
  {
    name: 'rule_list',
    title: 'List rules',
    description:
      'Lists the rules of a Channel with their failed evaluations. Call again with cursor set ' +
      'to next_cursor for the next page.',
    annotations: READS,
    ...overRoute(
      RULE_ROUTES['/rule/list'],
      (fields, caller) => rules.list(fields, caller),
      (page) => pageToWire(page, ruleToWire),
    ),
  },
  {
    name: 'rule_test',
    title: 'Try a rule',
    description:
      'Runs a rule over the kept history of a Channel and tells what it would have opened or ' +
      `sent. Nothing is written. ${FORM}`,
    annotations: READS,
    ...overRoute(
      RULE_ROUTES['/rule/test'],
      (fields, caller) => rules.test(fields, caller),
      triedToWire,
    ),
  },
]

const mappingTool = ({ acceptance: { mappings } }: RoutePorts): Tool => ({
  name: 'channel_mappings',
  title: 'Show or set what MQTT topics become',
  description:
    'Without mappings, shows those of a Channel and the ten newest MQTT topics that nothing ' +
    'takes. With mappings, replaces all of them: send the present ones along. A mapping is {' +
    '"topic": "home/+room/+device/state", "thing": "{room}-{device}", "time", "prefix", "kind"}.',
  annotations: ENDS,
  ...overRoute(
    MAPPING_ROUTES['/channel/mappings'],
    (fields, caller) => mappings.use(fields, caller),
    mappingsToWire,
  ),
})
