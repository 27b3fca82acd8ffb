// What the store throws. Callers see a code and a sentence, never a statement's parameters: those
// hold password hashes, provider tokens and content.

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

/** Too many jobs wait for the database; nothing was done. */
export class StoreBusy extends StoreError {
  constructor(waiting: number) {
    super('busy', `${waiting} jobs wait for the database, which is the limit`)
    this.name = 'StoreBusy'
  }
}
