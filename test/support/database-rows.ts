// Everything that a database holds, for comparisons.

import type { DataSource } from 'typeorm'

import { updatesIn } from '#src/store/feed/update-blocks'

export type Rows = readonly Readonly<Record<string, unknown>>[]

const isMySql = ({ options }: DataSource): boolean => options.type === 'mysql'

/** The tables of a database with their columns and indexes, whatever order those have. */
export async function schemaOf(source: DataSource): Promise<readonly string[]> {
  const rows: Rows = await source.query(
    isMySql(source)
      ? `SELECT table_name AS t, column_name AS c, column_type AS type, is_nullable AS n,
          column_default AS d, collation_name AS l, extra AS e, generation_expression AS g
          FROM information_schema.columns WHERE table_schema = database()
        UNION ALL SELECT table_name, index_name, column_name, non_unique, seq_in_index, sub_part,
          '', '' FROM information_schema.statistics WHERE table_schema = database()`
      : `SELECT m.name AS t, c.name AS c, lower(c.type) AS type, c."notnull" AS n,
          trim(c.dflt_value, '()') AS d, c.pk AS k
          FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'
        UNION ALL SELECT m.name, i.name, x.name, i."unique", x.seqno, ''
          FROM sqlite_master m, pragma_index_list(m.name) i, pragma_index_info(i.name) x
          WHERE m.type = 'table' AND i.origin = 'c'
        UNION ALL SELECT m.name, '', '', m.sql LIKE '%WITHOUT ROWID%',
          m.sql LIKE '%AUTOINCREMENT%', '' FROM sqlite_master m WHERE m.type = 'table'`,
  )
  return rows.map((row) => JSON.stringify(row)).toSorted()
}

/** Every row of every table, in no order; without what the server computes. */
export async function rowsOf(source: DataSource): Promise<Record<string, Rows>> {
  const tables: Rows = await source.query(
    isMySql(source)
      ? 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = database()'
      : "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  )
  const rows: Record<string, Rows> = {}
  for (const { name } of tables) {
    const found: Rows = await source.query(`SELECT * FROM ${String(name)}`)
    rows[String(name)] = inOrder(found.map(({ seq_block: _block, ...row }) => row))
  }
  return rows
}

export const inOrder = (rows: Rows): Rows =>
  rows.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))

/** The updates of Things, whether rows or blocks have them. */
export function updatesOf({
  thing_updates: rows = [],
  update_blocks: blocks = [],
}: Record<string, Rows>): Rows {
  const ofRows = rows.map((row) => ({
    channel: row['channel'],
    seq: row['seq'],
    model: row['model'],
    action: row['action'],
    entityId: row['entity_id'],
    opId: row['op_id'],
    state: row['state'],
    rev: row['rev'],
    acceptedAt: row['accepted_at'],
    payload: row['payload'],
  }))
  const ofBlocks = blocks.flatMap(({ content }) => updatesIn(content as Uint8Array))
  return inOrder([...ofRows, ...ofBlocks.map((update) => ({ ...update }))])
}
