// Sends the rows of an import as Thing updates, and records the outcome of each.
//
//   row ─▶ mapping ─▶ fleet sender ─▶ accepted
//     └── cannot be read   │      └── refused for its values ─────▶ rejects file
//         or mapped ───────┼──────────────────────────────────────▶ rejects file
//                          └── credentials, away, busy ──▶ the end; the checkpoint is before it
//
// Invariants:
//   importer/1. A row counts as done when it is accepted or rejected, and not otherwise.
//   importer/2. A failure that a later import may not meet (credentials, a gateway that is away or
//     busy) rejects no row: it ends the import.
//   importer/3. A row whose reject cannot be kept has no outcome: the import ends with the reason.

import type { FleetOutcome, FleetSender } from '#src/client/fleet'
import type { HeliographError } from '#src/client/error'
import { EXIT, exitCodeOf } from '#src/cli/endings'
import type { Credentials } from '#src/cli/access'
import type { Checkpoint } from './checkpoint.ts'
import { mapped } from './mapping.ts'
import type { Mapping } from './mapping.ts'
import type { Row } from './rows.ts'

/** A row without an accepted submission, and the reason. */
export interface Reject {
  readonly row: number
  readonly error_code: string
  readonly error: string
  readonly input: unknown
}

export interface ImporterPorts {
  readonly credentials: Credentials
  readonly mapping: Mapping
  readonly checkpoint: Checkpoint
  readonly nowMs: () => number
  readonly reject: (reject: Reject) => void
  /** Undefined: rows are read and mapped, and nothing is sent. */
  readonly connect:
    | ((onOutcome: (outcome: FleetOutcome<Row>) => void) => FleetSender<Row>)
    | undefined
}

export class Importer {
  readonly #ports: ImporterPorts
  readonly #sender: FleetSender<Row> | undefined
  readonly #failed = new AbortController()
  #skipped = 0
  #accepted = 0
  #rejected = 0
  #bytes = 0

  constructor(ports: ImporterPorts) {
    this.#ports = ports
    this.#sender = ports.connect?.((outcome) => this.#ended(outcome))
  }

  get counts() {
    return {
      rows: this.#accepted + this.#rejected,
      accepted: this.#accepted,
      rejected: this.#rejected,
      skipped: this.#skipped,
    }
  }

  /** Bytes of the input that were read. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Sends rows until they end or the signal stops it. Throws the error that ended the import early.
   * (importer/2)
   */
  async run(rows: AsyncIterable<Row>, stopped: AbortSignal): Promise<void> {
    const over = AbortSignal.any([stopped, this.#failed.signal])
    try {
      for await (const row of rows) {
        if (over.aborted) break
        this.#bytes = row.bytes
        await this.#take(row)
      }
      if (!over.aborted) await this.#sender?.flush()
    } finally {
      await this.#sender?.stop()
    }
    this.#failed.signal.throwIfAborted()
  }

  async #take(row: Row): Promise<void> {
    const { checkpoint, credentials, mapping, nowMs } = this.#ports
    const { number, read } = row
    if (number === 1) checkpoint.begin('fields' in read ? read.fields : read.text)
    if (number <= checkpoint.row) {
      this.#skipped += 1
      return
    }
    if ('problem' in read) {
      this.#reject(row, 'row_invalid', read.problem)
      return
    }
    const made = mapped(read.fields, mapping, nowMs())
    if ('problem' in made) {
      this.#reject(row, 'row_invalid', made.problem)
    } else if (this.#sender === undefined) {
      this.#accept(row)
    } else {
      const body = { ...credentials, ...made.update }
      await this.#sender
        .send({ model: 'thing', action: 'update', body, tag: row })
        .catch((error: unknown) => this.#failed.signal.aborted || Promise.reject(error as Error))
    }
  }

  #ended(outcome: FleetOutcome<Row>): void {
    const { tag: row } = outcome.submission
    if (row === undefined || outcome.kind === 'unsent') return // importer/1
    if (outcome.kind === 'accepted') this.#accept(row)
    else if (outcome.kind === 'refused' && isAboutRow(outcome.error)) {
      this.#reject(row, outcome.error.code, outcome.error.message)
    } else this.fail(outcome.error) // importer/2
  }

  /** Ends the import early: `run` throws the error. */
  fail(error: unknown): void {
    this.#failed.abort(error)
    void this.#sender?.stop()
  }

  #accept({ number }: Row): void {
    this.#accepted += 1
    this.#ports.checkpoint.done(number)
  }

  #reject({ number, read }: Row, code: string, error: string): void {
    const input = 'fields' in read ? read.fields : read.text
    try {
      this.#ports.reject({ row: number, error_code: code, error, input })
    } catch (reason) {
      this.fail(reason) // importer/3
      return
    }
    this.#rejected += 1
    this.#ports.checkpoint.done(number)
  }
}

/** True when the gateway would refuse the same row at any time. (importer/2) */
const isAboutRow = (error: HeliographError): boolean => exitCodeOf(error) === EXIT.refused
