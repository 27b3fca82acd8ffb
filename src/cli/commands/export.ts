// heliograph export: everything that a channel keeps, into a file.

import { defined } from '#domain/record'
import { open } from 'node:fs/promises'

import { HeliographError } from '#src/client/error'
import type { ExportBody, ExportLine } from '#src/client/export'
import { TIERS } from '#domain/history/series'
import { EXPORTED } from '#src/schemas/history/export-names'
import { CHANNEL, credentialsOf } from '#src/cli/access'
import { FORMATS, encoderOf } from '#src/cli/export/encoders'
import type { Part } from '#src/cli/export/encoder'
import {
  command,
  choice,
  fileOption,
  oneOf,
  severally,
  text,
  valued,
  withDefault,
} from '#src/cli/command'
import type { Given } from '#src/cli/command'
import { commandClientOf } from '#src/cli/command-client'
import { CommandError, UsageError } from '#src/cli/endings'
import type { ProcessContext, Terminal } from '#src/cli/process-context'
import { readSince } from '#src/cli/since'
import { whole } from '#src/cli/values'

const DRAWN_EVERY_MS = 500

const OPTIONS = {
  from: valued('<time>', 'entries accepted from then on: 7d, 12h, or a time', readSince),
  to: valued('<time>', 'entries accepted before then: 1d, or a time', readSince),
  what: severally('<kind>', 'a part of it; may be repeated, all by default', oneOf(EXPORTED), {
    choices: EXPORTED,
  }),
  format: withDefault(choice('<format>', FORMATS, 'one JSON a line, or a table'), 'ndjson'),
  prefix: text('<prefix>', 'only Things whose id begins with it'),
  step: choice('<step>', TIERS, 'what a point of series is: 1h by default'),
  after: whole('<seq>', 0, Number.MAX_SAFE_INTEGER, 'goes on behind an earlier export'),
  output: fileOption('the file to write; the standard output by default'),
  ...CHANNEL,
} as const

type ExportGiven = Given<typeof OPTIONS>

const exporting = command({
  description:
    'Writes what a channel keeps: the updates of its Things, the changes of its Events, its ' +
    'Messages, the present state of its Things and their series. A broken connection is made ' +
    'anew, and the export goes on where it was.',
  options: OPTIONS,
  examples: [
    'export --from 7d > week.ndjson',
    'export --format csv --from 2026-01-01 --to 2026-02-01 --output january.csv',
    'export --what updates --format parquet --prefix pump- --output pumps.parquet',
    'export --what series --step 1d --from 365d --format csv --output year.csv',
  ],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    if (options.format === 'parquet' && options.output === undefined && context.terminal.screen()) {
      throw new UsageError('--output: Parquet is no text for a terminal; name a file')
    }
    const credentials = await credentialsOf(options, context)
    const body: ExportBody = { ...credentials, ...wishOf(options, context) }
    context.saveMemory() // Otherwise Node lets garbage grow to 200 MB.
    const sink = await sinkOf(options.output, context.terminal)
    const progress = new Progress(context)
    const encoder = await encoderOf(options.format)
    let afterSeq = options.after ?? 0
    let left: string | undefined
    try {
      const lines = client.channel.export(body, { signal: context.untilStopped() })
      for await (const line of lines) {
        for (const part of encoder.add(line)) await sink.write(part)
        progress.add(line)
        afterSeq = line.after_seq ?? afterSeq
        if (line.kind === 'end' && line.complete === false) left = line.after_series
      }
      for (const part of encoder.end()) await sink.write(part)
    } catch (error) {
      if (error instanceof DOMException) throw new CommandError('stopped; the file is not whole')
      throw error
    } finally {
      progress.end()
      await sink.close()
    }
    const { lines } = progress
    if (options.output !== undefined) report({ lines, after_seq: afterSeq })
    else context.terminal.printDiagnostic(`${counted(lines)}; --after ${afterSeq} goes on behind`)
    if (left !== undefined) throw leftOut(left)
  },
})

function wishOf(
  { from, to, what, prefix, step, after }: ExportGiven,
  { nowMs }: ProcessContext,
): Omit<ExportBody, 'channel_id' | 'password' | 'device_key'> {
  return defined({
    from: from?.(nowMs()),
    to: to?.(nowMs()),
    what,
    thing_prefix: prefix,
    step,
    after_seq: after,
  })
}

/** `place`: that of the first series that are not in the file. */
const leftOut = (place: string): HeliographError =>
  new HeliographError(
    `series of ${place.split(' ', 1)[0]}, and perhaps of other Things, are left out: they are ` +
      'too much to be read for now; export them again with --what series',
    { code: 'series_incomplete', status: 503, retryable: true },
  )

interface Sink {
  write(part: Part): Promise<void>
  close(): Promise<void>
}

async function sinkOf(path: string | undefined, terminal: Terminal): Promise<Sink> {
  if (path === undefined) {
    return {
      write: (part) => terminal.write(part),
      close: async () => undefined,
    }
  }
  const file = await open(path, 'w', 0o600)
  return {
    write: (part) => file.appendFile(part),
    close: () => file.close(),
  }
}

const counted = (lines: number): string =>
  `${lines.toLocaleString('en-US')} ${lines === 1 ? 'line' : 'lines'}`

/** Draws on the standard error output how far the export is. */
class Progress {
  readonly #context: Pick<ProcessContext, 'terminal' | 'monotonicMs'>
  #drawnMs = -DRAWN_EVERY_MS
  lines = 0

  constructor(context: Pick<ProcessContext, 'terminal' | 'monotonicMs'>) {
    this.#context = context
  }

  add({ kind, seq }: ExportLine): void {
    const { terminal, monotonicMs } = this.#context
    if (kind !== 'end') this.lines += 1
    if (monotonicMs() - this.#drawnMs < DRAWN_EVERY_MS) return
    this.#drawnMs = monotonicMs()
    const place = seq === undefined ? '' : `, seq ${seq}`
    terminal.drawProgress(`${counted(this.lines)}${place}`)
  }

  end(): void {
    this.#context.terminal.drawProgress('')
  }
}

// The name of a command is a word of the language.
export { exporting as export }
