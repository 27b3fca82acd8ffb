// Tools that read, and those about rules, waiting Messages, mappings and presentation.

import type { RuleAction } from '#domain/submission'
import type { Acceptance } from '#src/acceptance/acceptance'
import { object, requiredText } from '#src/schemas/json-schema'
import { CANCELLATION, MAPPINGS, PRESENTATION, RECEIPTS, RULE_CHANGE } from '#src/schemas/resources'
import { RULE_READING, SERIES, STATE, STATUS } from '#src/schemas/resources'
import { ENDS, READS, SETS, overRoute } from './tool.ts'
import type { Tool } from './tool.ts'

/** The tools over the routes that submit no Message, Event or Thing. */
export const routeTools = (acceptance: Acceptance): readonly Tool[] => [
  ...thingTools(acceptance),
  ...readingTools(acceptance),
  ...changingTools(acceptance),
  ...ruleReadingTools(acceptance),
  mappingTool(acceptance),
  presentationTool(acceptance),
]

const PAGES = 'Call again with cursor set to next_cursor for the next page.'

const CONDITION =
  '{"attr", "above"}, {"attr", "below"}, {"attr", "inside": [low, high]}, {"attr", "outside": ' +
  '[low, high]}, {"attr", "equals"}, {"attr", "not_equals"}, {"attr", "absent": true}, ' +
  '{"silent": "10m"}, {"all": […]}, {"any": […]}, {"not"}, {"cel"} (attr: a name, or the names ' +
  'of a value within objects)'

const QUERY =
  `where is one condition of ${CONDITION}, {"state"}, {"tag"}, {"prefix"}, {"text"}, {"near": ` +
  '[latitude, longitude], "within": metres}. order is {"by": "changed" | "thing_id" | "title" | ' +
  '{"attr"}, "descending"}. group_by has up to two of {"attr"}, "state", "tag", {"prefix": 4}; ' +
  'aggregate has {"attr", "of": "min" | "max" | "mean" | "sum"}. Ask with limit 1 for groups.'

const OPERATION = {
  ...STATUS.find,
  request: object({ op_id: requiredText('From the answer of the tool that submitted.') }, [
    'op_id',
  ]),
}

function thingTools({ state, series }: Acceptance): readonly Tool[] {
  return [
    {
      name: 'thing_get',
      title: 'Get a Thing',
      description: 'Gives the present state of one Thing.',
      annotations: READS,
      ...overRoute(STATE.thing, (fields, caller) => state.thing(fields, caller)),
    },
    {
      name: 'thing_list',
      title: 'List Things',
      description: `Lists the Things of a Channel, newest change first. ${PAGES}`,
      annotations: READS,
      ...overRoute(STATE.things, (fields, caller) => state.things(fields, caller)),
    },
    {
      name: 'things_query',
      title: 'Ask which Things meet a condition',
      description:
        'Answers questions to a fleet: which Things, in which order, how many, in which groups ' +
        `and with which numbers. ${QUERY} ${PAGES}`,
      annotations: READS,
      ...overRoute(STATE.query, (fields, caller) => state.query(fields, caller)),
    },
    {
      name: 'thing_series',
      title: 'Read numbers over time',
      description:
        'Gives the numbers of a Thing over time: min, max, mean, last and count of each bucket, ' +
        'or with step raw the readings. Leave step out for at most 1,000 points of each attr; ' +
        'name attrs to keep the answer small. Times are Unix milliseconds.',
      annotations: READS,
      ...overRoute(SERIES.series, (fields, caller) => series.series(fields, caller)),
    },
  ]
}

function readingTools({ state, statuses, receipts }: Acceptance): readonly Tool[] {
  return [
    {
      name: 'event_get',
      title: 'Get an Event',
      description: 'Gives the present state of one Event.',
      annotations: READS,
      ...overRoute(STATE.event, (fields, caller) => state.event(fields, caller)),
    },
    {
      name: 'event_list',
      title: 'List Events',
      description:
        'Lists the Events of a Channel, newest change first: with state open what is wrong or ' +
        `going on now, with thing_id those of one Thing. ${PAGES}`,
      annotations: READS,
      ...overRoute(STATE.events, (fields, caller) => state.events(fields, caller)),
    },
    {
      name: 'history',
      title: 'Read what happened',
      description:
        'Gives the Messages, Events and changes of Things that a Channel keeps, oldest first; ' +
        `since, model and entity_id choose among them. ${PAGES}`,
      annotations: READS,
      ...overRoute(STATE.history, (fields, caller) => state.history(fields, caller)),
    },
    {
      name: 'send_status',
      title: 'Get the status of an operation',
      description:
        'Tells how far a submission is. accepted, processing, scheduled and provider_queued go ' +
        'on; sent, partially_failed, failed and cancelled are final, and error_code says why it ' +
        'failed.',
      annotations: READS,
      ...overRoute(OPERATION, ({ op_id: opId }, caller) =>
        statuses.find(typeof opId === 'string' ? opId : '', caller),
      ),
    },
    {
      name: 'delivery_receipts',
      title: 'See who got it',
      description:
        'Tells for each device of a Channel how far an entry is: acknowledged, pushed, waiting, ' +
        'failed, filtered by its preferences, or subscribed later. Send op_id, or entity_id for ' +
        'the newest entry of a Message, Event or Thing.',
      annotations: READS,
      ...overRoute(RECEIPTS.list, (fields, caller) => receipts.list(fields, caller)),
    },
  ]
}

const FORM =
  'A rule is {"things": "all" | {"ids"} | {"prefix"} | {"tag"}, "when": condition, "for": "5m", ' +
  '"clear": condition, "event": {"title", "severity"}} with one condition of ' +
  `${CONDITION}; "message" in place of "event" sends Messages.`

function changingTools({ submissions, cancellations }: Acceptance): readonly Tool[] {
  const submitting = (action: RuleAction) =>
    overRoute(RULE_CHANGE[action], (fields, caller) =>
      submissions.submit({ model: 'rule', action }, fields, caller),
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
      ...overRoute(CANCELLATION.cancel, (fields, caller) => cancellations.cancel(fields, caller)),
    },
  ]
}

const ruleReadingTools = ({ rules }: Acceptance): readonly Tool[] => [
  {
    name: 'rule_list',
    title: 'List rules',
    description: `Lists the rules of a Channel with their failed evaluations. ${PAGES}`,
    annotations: READS,
    ...overRoute(RULE_READING.list, (fields, caller) => rules.list(fields, caller)),
  },
  {
    name: 'rule_test',
    title: 'Try a rule',
    description:
      'Runs a rule over the kept history of a Channel and tells what it would have opened or ' +
      `sent. Nothing is written. ${FORM}`,
    annotations: READS,
    ...overRoute(RULE_READING.test, (fields, caller) => rules.test(fields, caller)),
  },
]

const mappingTool = ({ mappings }: Acceptance): Tool => ({
  name: 'channel_mappings',
  title: 'Show or set what MQTT topics become',
  description:
    'Without mappings, shows those of a Channel and the ten newest MQTT topics that nothing ' +
    'takes. With mappings, replaces all of them: send the present ones along. A mapping is {' +
    '"topic": "home/+room/+device/state", "thing": "{room}-{device}", "time", "prefix", "kind"}.',
  annotations: ENDS,
  ...overRoute(MAPPINGS.use, (fields, caller) => mappings.use(fields, caller)),
})

const presentationTool = ({ presentation }: Acceptance): Tool => ({
  name: 'channel_presentation',
  title: 'Show or set how attrs are shown',
  description:
    'Without presentation, tells the label, unit and range of attrs of Things in a Channel: read ' +
    'it before you tell a person values. With presentation, replaces all of it: send the present ' +
    'entries along. An entry is {"things": {"prefix", "tag"}, "attrs": {"temperature": {"label", ' +
    '"unit", "min", "max", "decimals", "on", "off", "order", "hidden"}}}.',
  annotations: ENDS,
  ...overRoute(PRESENTATION.use, (fields, caller) => presentation.use(fields, caller)),
})
