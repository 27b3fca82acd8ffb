// The errors of the store. Callers see a code and a sentence, never a statement's parameters: those
// hold password hashes, provider tokens and content.

import { STORE_BUSY, STORE_DEFECT } from '#domain/store-ports'

/** The database refused a statement or did not answer. */
export class StoreError extends Error {
  /** The driver's own code, for instance SQLITE_FULL, or a word of ours. */
  readonly code: string

  constructor(code: string, sentence: string) {
    super(sentence)
    this.name = 'StoreError'
    this.code = code
  }
}

/** The written or stored data is at fault, not the database. */
export class StoreDefect extends StoreError {
  constructor(code: string, sentence: string) {
    super(code, sentence)
    this.name = STORE_DEFECT
  }
}

/** Too many jobs wait for the database; nothing was done. */
export class StoreBusy extends StoreError {
  constructor(waiting: number) {
    super('busy', `${waiting} jobs wait for the database, which is the limit`)
    this.name = STORE_BUSY
  }
}

/** The database does not answer: nobody knows whether the job took effect. */
export class NoAnswer extends StoreError {
  constructor() {
    super('no_answer', 'the database did not answer in time')
    this.name = 'NoAnswer'
  }
}

/** Another transaction wrote the same key first; done again, this one finds its row. */
export class Overtaken extends StoreError {
  constructor() {
    super('overtaken', 'another transaction was faster')
    this.name = 'Overtaken'
  }
}

/** The driver's own error, inside TypeORM's. Known by its name: few threads load TypeORM. */
export const causeOf = (error: unknown): unknown =>
  error instanceof Error && error.name === 'QueryFailedError'
    ? Reflect.get(error, 'driverError')
    : error
