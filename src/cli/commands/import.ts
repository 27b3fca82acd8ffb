// heliograph import: readings from a file into Thing updates.

import { appendFileSync, closeSync, createReadStream, fstatSync, openSync } from 'node:fs'
import type { Readable } from 'node:stream'

import { isKeyForm } from '#domain/identity'
import { createFleetSender } from '#src/client/fleet'
import { CHANNEL, credentialsOf } from '#src/cli/access'
import type { Access, Credentials } from '#src/cli/access'
import { CommandError, EXIT, UsageError, fileReason } from '#src/cli/endings'
import { Checkpoint } from '#src/cli/import/checkpoint'
import { Importer } from '#src/cli/import/importer'
import type { Reject } from '#src/cli/import/importer'
import { readAttrs } from '#src/cli/import/mapping'
import type { Mapping } from '#src/cli/import/mapping'
import { rowsOf } from '#src/cli/import/rows'
import type { RowFormat } from '#src/cli/import/rows'
import type { ProcessContext } from '#src/cli/process-context'
import { commandClientOf } from '#src/cli/command-client'
import { whole } from '#src/cli/values'
import {
  command,
  choice,
  fileOption,
  flag,
  parameter,
  text,
  texts,
  withDefault,
} from '#src/cli/command'
import type { Given } from '#src/cli/command'

const TICK_MS = 500
const SHOWN_REJECTS = 10

const OPTIONS = {
  format: choice('<format>', ['json', 'csv'], 'JSON lines or CSV; by the name of the file'),
  delimiter: withDefault(text('<character>', 'the separator of CSV cells'), ','),
  thing: withDefault(text('<column>', 'the column with the thing_id'), 'thing_id'),
  thingId: text('<thing_id>', 'all rows are about this Thing'),
  time: withDefault(text('<column>', 'the time of the values; without one: now'), 'observed_at'),
  title: text('<column>', 'the column with the title of the Thing'),
  attr: texts('<column[=key]>', 'a column that becomes an attr; all others by default'),
  skip: texts('<column>', 'a column to leave out'),
  checkpoint: fileOption('resumes from this file, and keeps the progress there'),
  rejects: fileOption('gets each row that is not accepted, one JSON object a line'),
  connections: withDefault(whole('<count>', 1, 256, 'requests at a time'), 8),
  dryRun: flag('reads and checks every row, and sends nothing'),
  ...CHANNEL,
} as const

type ImportGiven = Given<typeof OPTIONS> & { readonly file: string }

const FILE = parameter(
  '<file>',
  'JSON lines, or CSV whose first line names the columns; - reads the standard input',
  { completes: 'file' },
)

const importing = command({
  description:
    'Sends each row of a file as an update of a Thing: a column names the Thing, one the time ' +
    'of the values, and the others become attrs. Rows about one Thing keep their order. With ' +
    '--checkpoint an import that was interrupted goes on where it stopped; a row that is sent ' +
    'twice with its own time changes nothing the second time.',
  parameters: { file: FILE },
  options: OPTIONS,
  examples: [
    'import readings.csv',
    'import readings.csv --thing sensor --time measured --attr temp=temperature',
    'import export.jsonl --checkpoint export.checkpoint --rejects rejects.jsonl',
    'import - --format json --thing-id boiler < readings.jsonl',
  ],
  async run(options, context) {
    return await new ImportRun(options, context).run()
  },
})

/** One run of the command. */
class ImportRun {
  readonly #options: ImportGiven
  readonly #context: ProcessContext
  readonly #checkpoint: Checkpoint
  /** Undefined: the standard input. */
  readonly #file: InputFile | undefined
  /** Undefined: rejects are shown. */
  readonly #rejectsFile: number | undefined
  #rejects = 0

  constructor(options: ImportGiven, context: ProcessContext) {
    this.#options = options
    this.#context = context
    this.#checkpoint = new Checkpoint(options.dryRun === true ? undefined : options.checkpoint)
    this.#file = options.file === '-' ? undefined : openInputFile(options.file)
    const { rejects } = options
    this.#rejectsFile = rejects === undefined ? undefined : openSync(rejects, 'a', 0o600)
  }

  async run(): Promise<number> {
    const { file, delimiter, format = formatOf(file) } = this.#options
    const { access, report } = await commandClientOf(this.#options, this.#context, {
      sendsSecrets: this.#options.dryRun !== true,
    })
    const credentials = await credentialsOf(this.#options, this.#context)
    const importer = this.#importer(access, credentials)
    const isCounted = access.token === undefined && !isKeyForm(credentials.password)
    if (isCounted && this.#options.dryRun !== true) {
      this.#context.terminal.printDiagnostic(
        'note: a gateway takes 60 a minute from one address, but for its token or a key',
      )
    }
    const stopped = this.#context.untilStopped()
    const endProgress = this.#showProgress(importer)
    try {
      const rows = rowsOf(this.#input(), format, delimiter, namedColumns(this.#options))
      await importer.run(rows, stopped)
    } finally {
      endProgress()
      if (this.#options.dryRun !== true) this.#checkpoint.save()
    }
    const { counts } = importer
    report({ ...counts, ended: stopped.aborted ? 'stopped' : 'done' })
    if (stopped.aborted) throw new CommandError(this.#howToGoOn())
    return counts.rejected > 0 ? EXIT.refused : EXIT.ok
  }

  #howToGoOn(): string {
    const { checkpoint } = this.#options
    return checkpoint === undefined
      ? 'stopped; with --checkpoint an import goes on where it stopped'
      : `stopped behind row ${this.#checkpoint.row}; the same command goes on there`
  }

  #importer({ baseUrl, token }: Access, credentials: Credentials): Importer {
    const { connections, dryRun } = this.#options
    const { fetch: ask, nowMs } = this.#context
    return new Importer({
      credentials,
      mapping: mappingOf(this.#options),
      checkpoint: this.#checkpoint,
      nowMs,
      reject: (reject) => this.#reject(reject),
      connect:
        dryRun === true
          ? undefined
          : (onOutcome) =>
              createFleetSender({
                baseUrl,
                token,
                fetch: ask,
                connections,
                repeatsUpdates: true,
                onOutcome,
              }),
    })
  }

  #input(): Readable {
    return this.#file?.stream() ?? this.#context.input()
  }

  #reject(reject: Reject): void {
    this.#rejects += 1
    if (this.#rejectsFile !== undefined) {
      appendFileSync(this.#rejectsFile, `${JSON.stringify(reject)}\n`)
    } else if (this.#rejects <= SHOWN_REJECTS) {
      this.#context.terminal.printDiagnostic(`row ${reject.row}: ${reject.error}`)
    } else if (this.#rejects === SHOWN_REJECTS + 1) {
      this.#context.terminal.printDiagnostic('more rows are rejected: --rejects <file> keeps them')
    }
  }

  #saveProgress(importer: Importer): void {
    try {
      if (this.#options.dryRun !== true) this.#checkpoint.save()
    } catch (error) {
      importer.fail(error)
    }
  }

  /** Draws the progress and saves the checkpoint now and then; gives the way to end that. */
  #showProgress(importer: Importer): () => void {
    const { terminal, monotonicMs } = this.#context
    const beganMs = monotonicMs()
    const totalBytes = this.#file?.bytes
    const timer = setInterval(() => {
      this.#saveProgress(importer)
      const screen = terminal.progressScreen()
      if (screen === undefined) return
      const { rows, rejected, skipped } = importer.counts
      const elapsedMs = monotonicMs() - beganMs
      const progress = {
        rows: rows + skipped,
        rejected,
        bytes: importer.bytes,
        totalBytes,
        elapsedMs,
      }
      terminal.drawProgress(progressLine(progress, screen.columns - 1))
    }, TICK_MS)
    return () => {
      clearInterval(timer)
      terminal.drawProgress('')
    }
  }
}

function formatOf(file: string): RowFormat {
  if (/\.(csv|tsv)$/i.test(file)) return 'csv'
  if (/\.(json|jsonl|ndjson)$/i.test(file)) return 'json'
  throw new UsageError('--format: say json or csv, the name of the file does not')
}

function mappingOf(options: ImportGiven): Mapping {
  const { thing, thingId, time, title, attr, skip } = options
  if (attr !== undefined && skip !== undefined)
    throw new UsageError('give --attr or --skip, not both')
  return {
    thing,
    thingId,
    time,
    title,
    attrs: attr && readAttrs(attr),
    skip: new Set(skip),
  }
}

/** Columns that the input must have. One that only the default of --time names may be missing. */
function namedColumns({ thing, thingId, time, title, attr = [] }: ImportGiven) {
  return [
    ...(thingId === undefined ? [['--thing', thing] as const] : []),
    ...(time === OPTIONS.time.fallback ? [] : [['--time', time] as const]),
    ...(title === undefined ? [] : [['--title', title] as const]),
    ...[...readAttrs(attr).keys()].map((column) => ['--attr', column] as const),
  ]
}

interface InputFile {
  readonly bytes: number
  /** Returns the contents, once, and closes the file after them. */
  readonly stream: () => Readable
}

/** Throws UsageError with the name of the file and the reason when it cannot be read. */
function openInputFile(file: string): InputFile {
  try {
    const descriptor = openSync(file, 'r')
    const state = fstatSync(descriptor)
    if (state.isDirectory()) {
      closeSync(descriptor)
      throw new UsageError(`cannot read ${file}: it is a folder`)
    }
    return { bytes: state.size, stream: () => createReadStream(file, { fd: descriptor }) }
  } catch (error) {
    // Windows refuses to open a folder, and then gives a code of its own.
    if (error instanceof UsageError) throw error
    throw new UsageError(`cannot read ${file}: ${fileReason(error)}`)
  }
}

// Writes the progress of an import as one line of a terminal.

export interface Progress {
  readonly rows: number
  readonly rejected: number
  readonly bytes: number
  /** Undefined when the size of the input is unknown. */
  readonly totalBytes: number | undefined
  readonly elapsedMs: number
}

const BAR_WIDTH = 24

/** The line, at most `columns` characters. */
export function progressLine(progress: Progress, columns: number): string {
  const { rows, rejected, bytes, totalBytes, elapsedMs } = progress
  const perSecond = elapsedMs > 0 ? (rows * 1000) / elapsedMs : 0
  const counts = `${count(rows)} rows  ${count(Math.round(perSecond))}/s`
  const rejects = rejected > 0 ? `  ${count(rejected)} rejected` : ''
  if (totalBytes === undefined || totalBytes === 0) return `${counts}${rejects}`.slice(0, columns)
  const share = Math.min(1, bytes / totalBytes)
  const filled = Math.floor(share * BAR_WIDTH)
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`
  const percent = `${Math.floor(share * 100)} %`.padStart(5)
  const left = share > 0 ? `  ${duration((elapsedMs * (1 - share)) / share)} left` : ''
  return `${bar} ${percent}  ${counts}${rejects}${left}`.slice(0, columns)
}

const count = (value: number): string => value.toLocaleString('en-US')

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}

// The name of a command is a word of the language.
export { importing as import }
