// Describes tables without TypeORM: a thread that only writes statements never loads it.

import type { EntitySchemaColumnOptions, EntitySchemaOptions } from 'typeorm'

/** A column in the way of TypeORM; `Held` is the type of its values. */
export type Column<Held> = EntitySchemaColumnOptions & { readonly held?: Held }

/** A column that the database numbers. */
export type SerialColumn = Column<number> & { readonly generated: 'increment' }

type Columns = Readonly<Record<string, EntitySchemaColumnOptions>>

/** A row as it is written: without what the database numbers. */
type Row<Of> = {
  readonly [Name in keyof Of as Of[Name] extends SerialColumn ? never : Name]: Of[Name] extends {
    readonly held?: infer Held
  }
    ? Exclude<Held, undefined>
    : never
}

/** An index that TypeORM cannot describe, and the ALTER TABLE that makes it. */
interface AddedIndex {
  readonly name: string
  readonly clauses: string
}

/** A table with rows of a type. */
export interface Table<Of> {
  readonly options: EntitySchemaOptions<Columns>
  readonly added?: AddedIndex | undefined
  readonly row?: Of
}

/** The rows of the table that an entity describes. */
export type RowOf<Entity extends (...types: never) => Table<unknown>> =
  ReturnType<Entity> extends Table<infer Of> ? Of : never

/** A column of the primary key. */
export const key = <Held>(column: Column<Held>): Column<Held> => ({ ...column, primary: true })

/** A column that may be null. */
export const orNull = <Held>(column: Column<Held>): Column<Held | null> => ({
  ...column,
  nullable: true,
})

/** A column with a value for rows that were made without one. */
export const withDefault = <Held extends string | number>(
  column: Column<Held>,
  value: Held,
): Column<Held> => ({ ...column, default: value })

/** Describes a table. Columns have the names of their properties, in lower case with _ between. */
export function tableOf<Of extends Columns>({
  columns,
  added,
  ...table
}: Omit<EntitySchemaOptions<Columns>, 'columns'> &
  Pick<Table<Of>, 'added'> & { readonly columns: Of }): Table<Row<Of>> {
  const named = Object.entries(columns).map(
    ([property, column]) => [property, { name: columnName(property), ...column }] as const,
  )
  // An added index belongs to the table: nobody takes it for one too many.
  const indices = [
    ...(table.indices ?? []),
    ...(added ? [{ name: added.name, synchronize: false as const }] : []),
  ]
  return { options: { ...table, indices, columns: Object.fromEntries(named) }, added }
}

const columnName = (property: string): string =>
  property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
