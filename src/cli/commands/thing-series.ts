// heliograph thing series: numbers of a Thing over time.

import { defined } from '#domain/record'
import type { DataOf } from '#src/client/bodies'
import { choice, parameter, texts } from '#src/cli/command'
import { channelRequest } from '#src/cli/command-client'
import { dateText } from '#src/cli/terminal-text'
import { HEADER, listWhole } from '#src/cli/paging'
import { since } from '#src/cli/since'
import { shortText } from '#src/cli/short-text'
import { sparkline } from '#src/cli/sparkline'
import { STEPS } from '#domain/history/series'
import { UNIT_MS } from '#domain/runtime'

type Columns = NonNullable<DataOf<'/thing/series'>['attrs']>[string]

const ASKED = [...STEPS, 'auto'] as const

/** One line of the table. */
interface Point {
  readonly attr: string
  readonly time: number
  readonly cells: readonly (number | string | boolean)[]
}

const DAY = '24h'
/** Readings are kept for a day: until the question arrives, the first of them are removed. */
const ON_THE_WAY_MS = 60_000
/** Characters that the name of an attr takes in front of its line. */
const NAME_WIDTH = 24
export const series = channelRequest({
  description:
    'Shows the numbers of a Thing over time: a bucket or a reading a line, and on a terminal ' +
    'each attr as a line of blocks above its own table.',
  parameters: { thingId: parameter('<thing_id>', 'the id of the Thing') },
  options: {
    attr: texts('<name>', 'only this attr; may be repeated'),
    from: { ...since, help: `from then on: 90m, 24h, 30d, or a time; ${DAY} by default` },
    to: { ...since, help: 'up to then; now by default' },
    step: choice('<step>', ASKED, 'what a point stands for; auto by default'),
    ...HEADER,
  },
  examples: ['thing series sensor-7 --attr temperature --from 7d', 'thing series sensor-7 --json'],
  send: ({ client, credentials }, { thingId, attr, from, to, step }, { nowMs }) =>
    client.thing.series({
      ...credentials,
      thing_id: thingId,
      from: from?.(nowMs()) ?? nowMs() - UNIT_MS.d + ON_THE_WAY_MS,
      ...defined({ attrs: attr, step, to: to?.(nowMs()) }),
    }),
  show: async (answer, options, context) => {
    const { step, attrs = {}, complete } = answer
    const { terminal } = context
    if (options.json === true) {
      terminal.print(JSON.stringify(answer))
      return
    }
    const headings = step === 'raw' ? ['VALUE'] : ['MIN', 'MEAN', 'MAX', 'LAST', 'COUNT']
    const text = step === 'raw' ? String : shortText
    const screen = terminal.screen()
    const each = Object.entries(attrs)
    if (screen === undefined || each.length === 0) {
      const table = {
        items: each.flatMap(([attr, columns]) => pointsOf(attr, columns)),
        headings: ['TIME', 'ATTR', ...headings],
        cells: ({ attr, time, cells }: Point) => [dateText(time), attr, ...cells.map(String)],
      }
      await listWhole(table, options, context)
    } else {
      for (const [at, [attr, columns]] of each.entries()) {
        if (at > 0) terminal.print('')
        const name = attr.length > NAME_WIDTH ? `${attr.slice(0, NAME_WIDTH - 1)}…` : attr
        const line = sparkline(numbersOf(columns), screen.columns - name.length - 1)
        terminal.print(`${name} ${line}`.trimEnd())
        const table = {
          items: pointsOf(attr, columns),
          headings: ['TIME', ...headings],
          cells: ({ time, cells }: Point) => [dateText(time), ...cells.map(text)],
        }
        await listWhole(table, options, context)
      }
    }
    if (!complete) terminal.printDiagnostic('a part of that time is not kept, or was too much')
  },
})

/** The value of each block of the line. */
const numbersOf = ({ mean, values = [] }: Columns): readonly number[] =>
  mean ?? values.filter((value) => typeof value === 'number')

const pointsOf = (attr: string, columns: Columns): readonly Point[] =>
  columns.times.map((time, at) => {
    const { min, mean, max, last, count, values } = columns
    const cells = [values, min, mean, max, last, count].flatMap((column) => column?.[at] ?? [])
    return { attr, time, cells }
  })
