// heliograph rule: put, get, list, delete, test.

import { defined } from '#domain/record'
import type { PageBody, RuleBody, RuleFiring, RuleRecord } from '#src/client/bodies'
import { channelRequest } from '#src/cli/command-client'
import { parameter } from '#src/cli/command'
import { UsageError } from '#src/cli/endings'
import { dateText } from '#src/cli/terminal-text'
import { jsonFile, jsonIn } from '#src/cli/json-file'
import { HEADER, LISTED, list as listPages, listWhole } from '#src/cli/paging'
import type { ProcessContext } from '#src/cli/process-context'
import { time } from '#src/cli/values'

const FILE = jsonFile('the rule')
const RULE_ID = parameter('<rule_id>', 'the id of the rule')

export const put = channelRequest({
  description:
    'Puts a rule that watches the Things of a channel, and opens Events or sends Messages. A ' +
    'rule of the same id is replaced.',
  parameters: { ruleId: RULE_ID, file: FILE },
  examples: ['rule put freezer-warm freezer.json', 'rule put silence - < silence.json'],
  isDecidedLater: true,
  send: async ({ client, credentials }, { ruleId, file }, context) =>
    client.rule.put({ ...credentials, rule_id: ruleId, rule: await ruleIn(file, context) }),
})

async function ruleIn(file: string, context: ProcessContext): Promise<RuleBody> {
  const value = await jsonIn(file, context)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${file}: a rule is a JSON object`)
  }
  return value as RuleBody
}

export const get = channelRequest({
  description: 'Shows a rule as it was put, and how often it failed on a value.',
  parameters: { ruleId: RULE_ID },
  examples: ['rule get freezer-warm'],
  send: ({ client, credentials }, { ruleId }) =>
    client.rule.get({ ...credentials, rule_id: ruleId }),
})

export const list = channelRequest({
  description: 'Lists the rules of a channel.',
  options: LISTED,
  examples: ['rule list --all'],
  send: ({ client, credentials }) => ({
    page: (wanted: PageBody) => client.rule.list({ ...credentials, ...wanted }),
    headings: ['RULE', 'UPDATED', 'FAILURES', 'THINGS', 'WHEN'],
    cells: ({ rule_id: id, rule, updated_at: at, failures }: RuleRecord) => [
      id,
      dateText(at),
      String(failures),
      JSON.stringify(rule['things']),
      JSON.stringify(rule['when']),
    ],
  }),
  show: listPages,
})

const remove = channelRequest({
  description: 'Deletes a rule, and closes its Events.',
  parameters: { ruleId: RULE_ID },
  examples: ['rule delete freezer-warm'],
  isDecidedLater: true,
  send: ({ client, credentials }, { ruleId }) =>
    client.rule.delete({ ...credentials, rule_id: ruleId }),
})

export const test = channelRequest({
  description:
    'Runs a rule over the kept history of a channel and shows what it would have opened or sent. ' +
    'Nothing is written.',
  parameters: { file: FILE },
  options: {
    from: time('leaves out what would have fired before'),
    to: time('leaves out what was accepted later'),
    ...HEADER,
  },
  examples: ['rule test freezer.json', 'rule test silence.json --from 2026-01-01'],
  send: async ({ client, credentials }, { file, from, to }, context) => {
    const rule = await ruleIn(file, context)
    return client.rule.test({ ...credentials, rule, ...defined({ from, to }) })
  },
  show: async ({ firings, entries, complete }, options, context) => {
    const listing = {
      items: firings,
      headings: ['THING', 'SINCE', 'FIRED', 'CLEARED', 'SEVERITY', 'TITLE'],
      cells: (firing: RuleFiring) => [
        firing.thing_id,
        dateText(firing.since),
        dateText(firing.fired_at),
        firing.cleared_at === undefined ? 'still fires' : dateText(firing.cleared_at),
        firing.severity,
        firing.title,
      ],
    }
    await listWhole(listing, options, context)
    const rest = complete ? '' : '; the history has more'
    const counts = `${counted(firings.length, 'firing')} in ${counted(entries, 'reading')}`
    context.terminal.printDiagnostic(counts + rest)
  },
})

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

export { remove as delete }
