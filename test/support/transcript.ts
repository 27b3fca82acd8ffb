// A transcript of docs/devices.md, played against a gateway: requests and frames are sent as they
// stand there, answers and frames of the gateway must be what stands there. Ids and secrets are
// others each time: the first use of one binds it, and from then on it must be that one. Of times
// the type counts.

import { isDeepStrictEqual } from 'node:util'

import { isRecord } from '#domain/record'
import type { Peer } from './framed-client.ts'

export type Line =
  | { readonly kind: 'request'; readonly path: string; readonly text: string }
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  | { readonly kind: 'connect' | 'lose' }
  | { readonly kind: 'says'; readonly text: string }
  | { readonly kind: 'hears'; readonly text: string }

/** The lines of a block ```transcript```; throws for one that is none. */
export function transcriptIn(document: string): readonly Line[] {
  const block = /```transcript\n([\s\S]*?)```/.exec(document)?.[1] ?? ''
  const lines = block.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map(lineFrom)
}

function lineFrom(line: string): Line {
  const [, path = '', body = ''] = /^POST (\S+) (.+)$/.exec(line) ?? []
  if (path !== '') return { kind: 'request', path, text: body }
  const [, status = '', answer = ''] = /^(\d{3}) (.+)$/.exec(line) ?? []
  if (status !== '') return { kind: 'answer', status: Number(status), text: answer }
  if (line.startsWith('> ')) return { kind: 'says', text: line.slice(2) }
  if (line.startsWith('< ')) return { kind: 'hears', text: line.slice(2) }
  if (line === 'CONNECT') return { kind: 'connect' }
  if (line === 'LOSE') return { kind: 'lose' }
  throw new Error(`not a line of a transcript: ${line}`)
}

/** Texts whose values may differ in each run. */
const BOUND = /(^|_)(id|key)$/
const TIMES = /(?<!observed)(_at|_time)$/

/** The values of this run behind the names in the transcript. */
export class Bindings {
  readonly #actual = new Map<string, string>()

  /** A text of the transcript with the values of this run. Ids are letters, digits and `_:-`. */
  inRun(text: string): string {
    if (this.#actual.size === 0) return text
    const written = new RegExp([...this.#actual.keys()].join('|'), 'g')
    return text.replace(written, (each) => this.#actual.get(each) ?? each)
  }

  /** Why a value of this run is not what stands in the transcript; undefined when it is. */
  difference(written: unknown, actual: unknown, name = ''): string | undefined {
    if (typeof written === 'string' && typeof actual === 'string' && BOUND.test(name)) {
      if (!this.#actual.has(written)) this.#actual.set(written, actual)
      const expected = this.inRun(written)
      return expected === actual ? undefined : `${name} is ${actual} instead of ${expected}`
    }
    if (TIMES.test(name)) return typeof written === typeof actual ? undefined : `${name} is no time`
    if (Array.isArray(written) && Array.isArray(actual) && written.length === actual.length) {
      return firstOf(written.map((each, at) => this.difference(each, actual[at], name)))
    }
    if (isRecord(written) && isRecord(actual)) return this.#members(written, actual, name)
    const expected = typeof written === 'string' ? this.inRun(written) : written
    return isDeepStrictEqual(expected, actual)
      ? undefined
      : `${name} is ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`
  }

  #members(written: Members, actual: Members, name: string): string | undefined {
    const names = Object.keys(written).map((each) => this.inRun(each))
    if (names.join() !== Object.keys(actual).join()) {
      return `${name} has ${Object.keys(actual).join()} instead of ${names.join()}`
    }
    return firstOf(
      Object.entries(written).map(([each, value]) =>
        this.difference(value, actual[this.inRun(each)], each),
      ),
    )
  }
}

type Members = Readonly<Record<string, unknown>>

const firstOf = (differences: readonly (string | undefined)[]): string | undefined =>
  differences.find((difference) => difference !== undefined)

export interface Stage {
  readonly post: (path: string, body: string) => Promise<{ status: number; text: string }>
  readonly connect: () => Promise<Peer>
  /** Resolves once the device has heard so many frames. */
  readonly heard: (peer: Peer, count: number) => Promise<void>
}

/** Plays the lines up to the first one of the gateway that differs; gives how it does. */
export async function play(
  lines: readonly Line[],
  { post, connect, heard }: Stage,
): Promise<{ readonly differences: readonly string[] }> {
  const bindings = new Bindings()
  const differences: string[] = []
  const compare = (written: string, text: string): void => {
    const difference = bindings.difference(JSON.parse(written), JSON.parse(text))
    if (difference !== undefined) differences.push(`${difference}\n  in ${text}`)
  }
  let answer = { status: 0, text: '{}' }
  let peer: Peer | undefined
  let frames = 0
  for (const line of lines) {
    // Behind a difference nothing is as it stands there.
    if (differences.length > 0) break
    if (line.kind === 'request') answer = await post(line.path, bindings.inRun(line.text))
    else if (line.kind === 'answer') {
      if (answer.status !== line.status) differences.push(`${answer.status} ${answer.text}`)
      compare(line.text, answer.text)
    } else if (line.kind === 'connect') {
      peer = await connect()
      frames = 0
    } else if (line.kind === 'lose') peer?.leave()
    else if (line.kind === 'says') peer?.say(bindings.inRun(line.text))
    else if (line.kind === 'hears') {
      frames += 1
      if (peer === undefined) throw new Error('a frame without a connection')
      await heard(peer, frames)
      compare(line.text, peer.heard[frames - 1] ?? '{}')
    }
  }
  return { differences }
}
