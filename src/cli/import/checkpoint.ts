// Keeps the progress of an import: the row up to which every row has an outcome.
//
// Invariants:
//   checkpoint/1. Every row up to the one in the file has an outcome, whatever the order of the
//     outcomes: an import that resumes there leaves no row out.
//   checkpoint/2. A checkpoint is valid for the input that it was made for, and for no other.

import { createHash } from 'node:crypto'

import { recordFrom } from '#domain/record'
import { fileText } from '#src/config/environment'
import { replaceFile } from '#src/cli/config-file'
import { UsageError } from '#src/cli/endings'

interface Saved {
  readonly row: number
  /** SHA-256 of the first row in hex. */
  readonly first_row: string
}

export class Checkpoint {
  readonly #path: string | undefined
  readonly #before: Saved | undefined
  readonly #done = new Set<number>()
  #row: number
  #firstRow = ''

  /** Throws UsageError for a file that is no checkpoint. */
  constructor(path: string | undefined) {
    this.#path = path
    const text = path === undefined ? undefined : fileText(path)
    this.#before = text === undefined ? undefined : savedIn(text)
    this.#row = this.#before?.row ?? 0
  }

  /** Every row up to this one has an outcome. */
  get row(): number {
    return this.#row
  }

  /**
   * Remembers the first row, and writes the file: one that cannot be written is known before
   * anything is sent. Throws UsageError for another input. (checkpoint/2)
   */
  begin(firstRow: unknown): void {
    this.#firstRow = createHash('sha256').update(JSON.stringify(firstRow)).digest('hex')
    if (this.#before !== undefined && this.#before.first_row !== this.#firstRow) {
      throw new UsageError('--checkpoint: the file belongs to another input; name or make another')
    }
    this.save()
  }

  /** Records that a row has its outcome. */
  done(row: number): void {
    this.#done.add(row)
    while (this.#done.delete(this.#row + 1)) this.#row += 1 // checkpoint/1
  }

  save(): void {
    if (this.#path === undefined || this.#firstRow === '') return
    const saved: Saved = { row: this.#row, first_row: this.#firstRow }
    replaceFile(this.#path, `${JSON.stringify(saved)}\n`)
  }
}

function savedIn(text: string): Saved {
  const { row, first_row: firstRow } = recordFrom(text)
  if (Number.isSafeInteger(row) && typeof firstRow === 'string') {
    return { row: Number(row), first_row: firstRow }
  }
  throw new UsageError('--checkpoint: the file is no checkpoint of an import')
}
