// Reads an export line by line, and goes on where it was when the connection breaks.
//
// Invariants:
//   export/1. Every line that was given whole is given once: the next request begins behind it. A
//     line that broke off is read again.
//   export/2. Attempts in a row that bring nothing are bounded, as those of a call are.
//   export/3. An export that left series out ends without asking for them again, as they can be
//     read later only; its last line says from which place.

import { isRecord, jsonOf } from '#domain/record'
import { seriesPlaceText } from '#src/schemas/history/export-names'
import type { BodyOf, DataOf } from './bodies.ts'
import { Attempts, streamed } from './call.ts'
import type { Endpoint } from './call.ts'
import { HeliographError } from './error.ts'

export type ExportBody = BodyOf<'/channel/export'>

/** A line of an export; the last one is its end, and no line tells of progress alone. */
export type ExportLine = DataOf<'/channel/export'>

const PATH = '/channel/export'
/** The gateway sends something at least as often, or is gone. */
const SILENCE_MS = 90_000

/** Codes of an end after which the rest comes later. */
const GOES_ON: readonly unknown[] = ['server_busy', 'rate_limited']

interface Place {
  readonly after_seq?: number
  readonly after_thing?: string
  readonly after_series?: string
}

/** Returns the lines in their order; throws HeliographError when the gateway refuses them. */
export async function* exported(
  endpoint: Endpoint,
  body: ExportBody,
  signal: AbortSignal | undefined,
): AsyncGenerator<ExportLine> {
  let place: Place = {}
  let gap: Gap | undefined
  const attempts = new Attempts(endpoint)
  for (;;) {
    signal?.throwIfAborted()
    try {
      for await (const line of linesOf(endpoint, { ...body, ...place }, signal)) {
        const next = placeBehind(place, line)
        if (!isSame(place, next)) attempts.succeeded() // export/2
        place = next
        gap ??= gapIn(line)
        if (isEnd(line)) {
          yield { ...line, ...gap } // export/3
          return
        }
        if (line.kind !== 'progress' && !isCut(line)) yield line
        if (isCut(line) && !GOES_ON.includes(line.error_code)) throw refusedBy(line)
      }
      await attempts.failed(BROKEN, signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof HeliographError)) throw error
      await attempts.failed(error, signal) // export/2
    }
  }
}

const BROKEN = new HeliographError('the gateway broke the export off', {
  code: 'connection_failed',
  status: 0,
  retryable: true,
})

/** The code of an end that has everything but some series. */
const LEFT_OUT = 'series_incomplete'

/** True for the last line of an export that has all that can be read for now. (export/3) */
const isEnd = ({ kind, complete, error_code: code }: ExportLine): boolean =>
  kind === 'end' && (complete === true || code === LEFT_OUT)
const isCut = (line: ExportLine): boolean => line.kind === 'end' && !isEnd(line)

/** The last line of an export that left series out says this. */
type Gap = Required<Pick<ExportLine, 'complete' | 'after_series' | 'error_code'>>

function gapIn({ kind, complete, thing_id: thingId = '', to = 0 }: ExportLine): Gap | undefined {
  if (kind !== 'series' || complete !== false) return undefined
  const place = seriesPlaceText({ thingId, before: to })
  return { complete: false, after_series: place, error_code: LEFT_OUT }
}

const refusedBy = ({ error_code: code = '' }: ExportLine): HeliographError =>
  new HeliographError(`the export was cut: ${code}`, { code, status: 403, retryable: false })

/** export/1 */
function placeBehind(place: Place, line: ExportLine): Place {
  const { kind, seq, thing_id, after_seq: after = seq, after_series } = line
  if (kind === 'thing') return thing_id === undefined ? place : { ...place, after_thing: thing_id }
  const moved = after === undefined ? place : { ...place, after_seq: after }
  // The end names the first series that were left out, behind which others were given.
  return after_series === undefined || kind === 'end' ? moved : { ...moved, after_series }
}

const isSame = (one: Place, other: Place): boolean =>
  one.after_seq === other.after_seq &&
  one.after_thing === other.after_thing &&
  one.after_series === other.after_series

async function* linesOf(
  endpoint: Endpoint,
  body: ExportBody,
  signal: AbortSignal | undefined,
): AsyncGenerator<ExportLine> {
  const silence = new AbortController()
  const both = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal])
  const listen = (): (() => void) => endpoint.runtime.after(SILENCE_MS, () => silence.abort())
  let hush = listen()
  try {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of streamed(endpoint, { path: PATH, body, signal: both })) {
      hush()
      hush = listen()
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = parts.pop() ?? ''
      for (const part of parts) yield lineIn(part)
    }
  } finally {
    hush()
    silence.abort()
  }
}

function lineIn(text: string): ExportLine {
  const line = jsonOf(text)
  if (isRecord(line) && typeof line['kind'] === 'string') return line as unknown as ExportLine
  throw new HeliographError('the export has a line that is none', {
    code: 'answer_invalid',
    status: 200,
    retryable: false,
  })
}
