// Tools about rules, and the Messages that wait for their time.

import { isFault } from '#domain/fault'
import type { RuleAction } from '#domain/submission'
import type { Acceptance } from '#src/acceptance/acceptance'
import { acceptedToWire, operationToWire, pageToWire } from '#src/schemas/answers'
import { MESSAGE_ROUTES } from '#src/schemas/message-schemas'
import { ruleToWire, triedToWire } from '#src/schemas/rules/rule-requests'
import { RULE_ROUTES } from '#src/schemas/rules/rule-schemas'
import { ENDS, READS, SETS } from './tool.ts'
import type { Tool } from './tool.ts'

export interface TimedPorts {
  readonly acceptance: Pick<Acceptance, 'rules' | 'submissions' | 'cancellations'>
  readonly statusRetentionMs: number
}

const FORM =
  'A rule is {"things": "all" | {"ids"} | {"prefix"} | {"tag"}, "when": condition, "for": "5m", ' +
  '"clear": condition, "event": {"title", "severity"}} with one condition of {"attr", "above"}, ' +
  '{"attr", "below"}, {"attr", "outside": [low, high]}, {"attr", "equals"}, {"silent": "10m"}, ' +
  '{"all": […]}, {"any": […]}, {"not"}, {"cel"}; "message" in place of "event" sends Messages.'

type Shared = Pick<Tool, 'scopes'>
const TOOL: Shared = { scopes: ['mcp:tools'] }

export const ruleTools = (ports: TimedPorts): readonly Tool[] => [
  ...changingTools(ports),
  ...readingTools(ports),
]

function changingTools({ acceptance, statusRetentionMs }: TimedPorts): readonly Tool[] {
  const { submissions, cancellations } = acceptance
  const submitting = (action: RuleAction): Pick<Tool, 'call' | 'body' | 'output'> => ({
    ...declared(`/rule/${action}`),
    call: async (fields, call) => {
      const accepted = await submissions.submit(
        { model: 'rule', action },
        fields,
        await call.caller(),
      )
      return isFault(accepted) ? accepted : acceptedToWire(accepted)
    },
  })
  return [
    {
      ...TOOL,
      name: 'rule_put',
      title: 'Put a rule',
      description:
        'Makes the gateway watch Things and open an Event, or send a Message, when something is ' +
        `wrong or silent. A rule of the same id is replaced. Try it with rule_test first. ${FORM}`,
      annotations: SETS,
      ...submitting('put'),
    },
    {
      ...TOOL,
      name: 'rule_delete',
      title: 'Delete a rule',
      description: 'Deletes a rule for good, and closes the Events that it opened.',
      annotations: ENDS,
      ...submitting('delete'),
    },
    {
      ...TOOL,
      name: 'message_cancel',
      title: 'Cancel a Message',
      description:
        'Takes back a Message that waits for its delay or deliver_at. Refused when it went; a ' +
        'repeat is safe.',
      annotations: ENDS,
      body: MESSAGE_ROUTES['/message/cancel'].request,
      output: MESSAGE_ROUTES['/message/cancel'].data,
      call: async (fields, call) => {
        const cancelled = await cancellations.cancel(fields, await call.caller())
        return isFault(cancelled) ? cancelled : operationToWire(cancelled, statusRetentionMs)
      },
    },
  ]
}

function readingTools({ acceptance: { rules } }: TimedPorts): readonly Tool[] {
  return [
    {
      ...TOOL,
      name: 'rule_list',
      title: 'List rules',
      description:
        'Lists the rules of a Channel with their failed evaluations. Call again with cursor set ' +
        'to next_cursor for the next page.',
      annotations: READS,
      ...declared('/rule/list'),
      call: async (fields, call) => {
        const page = await rules.list(fields, await call.caller())
        return isFault(page) ? page : pageToWire(page, ruleToWire)
      },
    },
    {
      ...TOOL,
      name: 'rule_test',
      title: 'Try a rule',
      description:
        'Runs a rule over the kept history of a Channel and tells what it would have opened or ' +
        `sent. Nothing is written. ${FORM}`,
      annotations: READS,
      ...declared('/rule/test'),
      call: async (fields, call) => {
        const tried = await rules.test(fields, await call.caller())
        return isFault(tried) ? tried : triedToWire(tried)
      },
    },
  ]
}

const declared = (path: keyof typeof RULE_ROUTES): Pick<Tool, 'body' | 'output'> => ({
  body: RULE_ROUTES[path].request,
  output: RULE_ROUTES[path].data,
})
