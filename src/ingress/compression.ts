// Compresses answers for callers who take that: lists, history, queries, numbers, exports.
//
// Why that is safe (BREACH): the length of a compressed answer tells whether a text that somebody
// put into it repeats another part of it. No answer with a credential is compressed, and no browser
// adds one to a request by itself: the routes take no cookies, so no page of a stranger makes
// another person's answers. Whoever may send to a channel and sees the traffic of its readers
// could guess at Messages beside their own, one guess a reading (docs/security.md).
//
// Invariants:
//   compression/1. At most ANSWERS_MAX answers are compressed at once, in libuv's threads; one more
//                  leaves as it is. So nothing waits, and passwords find a thread.
//   compression/2. Rows whose answers carry credentials are not compressible; submissions are not.

import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import type { BrotliCompress, Gzip, ZlibOptions } from 'node:zlib'

import { isStream } from '#src/http/reply'
import type { Header, Reply, Stream } from '#src/http/reply'
import { ACCEPT_ENCODING, codingsIn } from './variants.ts'

/** Half of the threads that libuv has when nothing says otherwise. */
const ANSWERS_MAX = 2
/** Below it the headers of an answer weigh more than what is saved. */
const COMPRESSED_FROM = 1024

/** Brotli's first level is smaller than gzip here, for a quarter of the time. */
const FAST = { [constants.BROTLI_PARAM_QUALITY]: 1 }
/** A series of 130 KB in 0.5 ms in place of 1.9: whoever reads numbers waits for them. */
const FAST_GZIP = { level: constants.Z_BEST_SPEED }

interface Coding {
  readonly name: string
  readonly whole: (body: string | Uint8Array) => Promise<Uint8Array>
  /** Each chunk leaves before the next one is asked for: what a reader waits for is not held. */
  readonly stream: () => Gzip | BrotliCompress
}

const CODINGS: readonly Coding[] = [
  {
    name: 'br',
    whole: (body) => brotli(body, { params: FAST }),
    stream: () => createBrotliCompress({ params: FAST, flush: constants.BROTLI_OPERATION_FLUSH }),
  },
  {
    name: 'gzip',
    whole: (body) => zipped(body, FAST_GZIP),
    stream: () => createGzip({ ...FAST_GZIP, flush: constants.Z_SYNC_FLUSH }),
  },
]
const brotli = promisify(brotliCompress)
const zipped = promisify<string | Uint8Array, ZlibOptions, Buffer>(gzip)

const VARY: Header = ['vary', ACCEPT_ENCODING]

export class Compression {
  #running = 0

  /** The answers that are being compressed; the bound of streams is that of their routes. */
  get running(): number {
    return this.#running
  }

  /** The answer in a form that its caller takes. `sent`: the headers of the request. */
  async applied(reply: Reply, sent: Readonly<Record<string, string>>): Promise<Reply> {
    const varied = { ...reply, headers: [VARY, ...reply.headers] }
    const accepted = codingsIn(sent[ACCEPT_ENCODING] ?? '')
    const coding = CODINGS.find(({ name }) => accepted.has(name))
    if (coding === undefined) return varied
    const body = await this.#bodyOf(reply, coding)
    if (body === undefined) return varied
    return { ...varied, body, headers: [...varied.headers, ['content-encoding', coding.name]] }
  }

  /** Undefined where the body stays as it is. */
  async #bodyOf({ body }: Reply, coding: Coding): Promise<Uint8Array | Stream | undefined> {
    if (isStream(body)) return compressedStream(body, coding)
    if (body.length <= COMPRESSED_FROM) return undefined
    if (this.#running >= ANSWERS_MAX) return undefined // compression/1
    this.#running += 1
    try {
      return await coding.whole(body)
    } finally {
      this.#running -= 1
    }
  }
}

/** A stream's bytes, one chunk at a time; it fails and ends as the stream does. */
const compressedStream = (plain: Stream, coding: Coding): Stream => ({
  ...plain,
  async *open(signal) {
    const packed = coding.stream()
    // Its error is the one that reading `packed` throws.
    pipeline(plain.open(signal), packed).catch(() => undefined)
    for await (const bytes of packed) yield bytes as Uint8Array
  },
})
