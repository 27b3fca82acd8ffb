// Rules of channels, and what waits for a time: watches, and sweeps of whole rules.

import type { ColumnTypes } from '#src/store/dialect'
import { tableOf } from './table.ts'

export type RuleRow = {
  readonly channel: number
  readonly id: string
  readonly version: string
  readonly since: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly document: string
  readonly failures: number
  readonly lastFailure: string
}

export const ruleEntity = ({ integer, text, document }: ColumnTypes) =>
  tableOf<RuleRow>({
    name: 'rules',
    columns: {
      channel: { ...integer, primary: true },
      id: { ...text(64), primary: true },
      version: text(128),
      since: integer,
      createdAt: { ...integer, name: 'created_at' },
      updatedAt: { ...integer, name: 'updated_at' },
      document,
      failures: { ...integer, default: 0 },
      lastFailure: { ...text(256), name: 'last_failure', default: '' },
    },
  })

export type WatchRow = {
  readonly channel: number
  readonly ruleId: string
  /** '' for the sweep of a rule. */
  readonly thingId: string
  /** Set when it is written, so that the owner of a lane finds what is due by one index. */
  readonly lane: number
  readonly due: number | null
  readonly document: string
}

export const watchEntity = ({ integer, text, document }: ColumnTypes) =>
  tableOf<WatchRow>({
    name: 'watches',
    columns: {
      channel: { ...integer, primary: true },
      ruleId: { ...text(64), name: 'rule_id', primary: true },
      thingId: { ...text(64), name: 'thing_id', primary: true },
      lane: integer,
      due: { ...integer, nullable: true },
      document,
    },
    indices: [
      { name: 'watches_by_thing', columns: ['channel', 'thingId'] },
      { name: 'watches_by_due', columns: ['lane', 'due', 'ruleId', 'thingId', 'channel'] },
    ],
  })
