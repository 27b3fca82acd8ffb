import type { EntitySchemaOptions } from 'typeorm'

/** A table, described in the way of TypeORM. */
export interface Table<Row> {
  readonly options: EntitySchemaOptions<Row>
}

/** Describes a table without TypeORM: a thread that only writes statements never loads it. */
export const tableOf = <Row>(options: EntitySchemaOptions<Row>): Table<Row> => ({ options })
