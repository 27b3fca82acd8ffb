// heliograph thing query: asks for Things in the text of queries (docs/history.md).

import { defined } from '#domain/record'
import { readQuery } from '#src/client/query/text'
import type { BodyOf, DataOf, PageBody, ThingRecord } from '#src/client/bodies'
import { COMPUTED } from '#domain/things/query'
import type { ThingAggregate, ThingGroupBy, ThingOrder } from '#domain/things/query'
import type { AttrPath } from '#domain/rules/condition'
import { channelRequest } from '#src/cli/command-client'
import { BadValue, flag, rest, severally, valued } from '#src/cli/command'
import { ENTITY_HEADINGS, LISTED, entityCells } from '#src/cli/paging'
import { list as listPages, listWhole } from '#src/cli/paging'
import { UsageError } from '#src/cli/endings'
import { shortText } from '#src/cli/short-text'

type Body = BodyOf<'/thing/query'>
type Answer = DataOf<'/thing/query'>
type Group = NonNullable<Answer['groups']>[number]

const pathOf = (name: string): AttrPath => (name.includes('.') ? name.split('.') : name)

const ORDERS = ['changed', 'thing_id', 'title'] as const

function orderOf(name: string): ThingOrder['by'] {
  return ORDERS.find((known) => known === name) ?? { attr: pathOf(name) }
}

function groupByOf(name: string): ThingGroupBy {
  if (name === 'state' || name === 'tag') return name
  const [, characters] = /^prefix:([0-9]+)$/.exec(name) ?? []
  return characters === undefined ? { attr: pathOf(name) } : { prefix: Number(characters) }
}

function aggregateOf(text: string): ThingAggregate {
  const [, computed, attr = ''] = /^([a-z]+):(.+)$/.exec(text) ?? []
  const of = COMPUTED.find((known) => known === computed)
  if (of === undefined) throw new BadValue(`allowed: ${COMPUTED.join(', ')}, as mean:temperature`)
  return { attr: pathOf(attr), of }
}

/** The condition of some words. Throws UsageError, which says where they are wrong. */
function whereOf(words: readonly string[]): Pick<Body, 'where'> {
  const read = readQuery(words.join(' '))
  if (read.kind === 'query') return defined({ where: read.where })
  const { at, message } = read
  throw new UsageError(`[query...]: ${message} (at character ${at + 1} of the query)`)
}

export const query = channelRequest({
  description:
    'Shows the Things of a channel that meet a condition. With --group-by or --aggregate it ' +
    'shows groups in their place.',
  parameters: { words: rest('[query...]', 'what is asked: temperature > 80 tag:pump') },
  options: {
    order: valued('<name>', 'changed, thing_id, title or an attr', orderOf),
    descending: flag('from the last to the first'),
    count: flag('also how many there are'),
    groupBy: severally('<name>', 'state, tag, prefix:4 or an attr; up to two', groupByOf),
    aggregate: severally('<what:attr>', 'a number of each group: mean:temperature', aggregateOf),
    ...LISTED,
  },
  examples: [
    "thing query 'temperature > 80 tag:pump' --order temperature --descending",
    'thing query state:active silent:10m --count',
    'thing query --group-by tag --aggregate mean:temperature',
  ],
  send: async ({ client, credentials }, values) => {
    const { order, descending, count, groupBy, aggregate } = values
    const asked = {
      ...credentials,
      ...whereOf(values.words),
      ...((order !== undefined || descending) && {
        order: { by: order ?? 'changed', ...defined({ descending }) },
      }),
    }
    const groups = defined({ group_by: groupBy, aggregate })
    const isGrouped = groupBy !== undefined || aggregate !== undefined
    const grouped = isGrouped
      ? await client.thing.query({ ...asked, ...groups, ...defined({ count }), limit: 1 })
      : undefined
    const page = (wanted: PageBody) =>
      client.thing.query({ ...asked, ...defined({ count: countOf(count, wanted) }), ...wanted })
    return { grouped, page }
  },
  show: async ({ grouped, page }, values, context) => {
    if (grouped !== undefined) {
      const text = context.terminal.screen() === undefined ? String : shortText
      await listWhole(groupTable(grouped, text), values, context)
      tellTotal(grouped, context)
      return
    }
    const pages = async (wanted: PageBody): Promise<Answer> => {
      const answer = await page(wanted)
      tellTotal(answer, context)
      return answer
    }
    const listing = {
      page: pages,
      headings: ['THING', ...ENTITY_HEADINGS],
      cells: (record: ThingRecord) => [record.thing_id, ...entityCells(record)],
    }
    await listPages(listing, values, context)
  },
})

/** The first page tells the total. */
const countOf = (count: boolean | undefined, { cursor }: PageBody): boolean | undefined =>
  cursor === undefined ? count : undefined

interface Printing {
  readonly terminal: { readonly printDiagnostic: (line: string) => void }
}

function tellTotal({ total, complete }: Answer, { terminal }: Printing): void {
  const some = complete === false ? ' of a part of the channel' : ''
  if (total !== undefined) terminal.printDiagnostic(`${total} Things${some}`)
  else if (complete === false) terminal.printDiagnostic('not all Things are counted')
}

const groupTable = ({ groups = [] }: Answer, textOf: (value: number) => string) => ({
  items: groups,
  headings: [
    ...(groups[0]?.key ?? []).map((_, index) => `KEY ${index + 1}`),
    'COUNT',
    ...(groups[0]?.aggregates ?? []).map(({ attr, of }) => `${of}:${attr}`),
  ],
  cells: ({ key, count, aggregates }: Group) => [
    ...key.map((value) => (value === null ? '-' : String(value))),
    String(count),
    ...aggregates.map(({ value }) => (value === undefined ? '-' : textOf(value))),
  ],
})
