// Handlers written for node:http, as rows of the table of routes.
//
// Invariants:
//   mount/1. A caller that leaves breaks the connection to the handler; a handler that breaks off
//            its answer breaks that to the caller. Neither looks like a whole one.
//   mount/2. A handler sees the address that the gateway knows; what a caller says of it, or of
//            proxies, does not reach it.
//   mount/3. A request that the gateway refuses does not reach the handler, and nothing of it is
//            read.
//   mount/4. The connection to the handler is closed once the answer is through.

import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'

import { reportDefect } from '#domain/defect'
import type { Request } from './request.ts'
import type { Fault } from '#domain/fault'
import type { Logger } from '#domain/telemetry'
import type { RowMethod } from '#src/http/router'
import { answerOf } from '#src/http/mounted-answer'
import type { Incoming } from '#src/http/mounted-answer'
import { BODY_BYTES_MAX, NOTHING } from './reader.ts'
import type { Reader } from './reader.ts'
import type { Reply } from '#src/http/reply'
import { failure as envelopeOf } from './answerer.ts'
import type { Row } from './row.ts'

/** A handler of node:http. An error that it throws or rejects with breaks its answer off. */
export type NodeHandler = (...exchange: Parameters<RequestListener>) => unknown

type RowOptions = Partial<Pick<Row, 'methods' | 'token' | 'credentials' | 'decode'>>

export interface MountOptions extends RowOptions {
  /** `/name` or `/name/{part}` for such paths alone, `/name/*` for all below it. */
  readonly path: string
  readonly alsoAt?: readonly string[]
  readonly handler: NodeHandler
  /** The most bytes of a body. */
  readonly bytesMax?: number
  /** Counts a request of this address; gives the refusal of one beyond its budget. */
  readonly admit?: (address: string) => Fault | undefined
  /** Makes the answer to a request that the gateway refuses. Absent: the envelope. */
  readonly failure?: (refusal: Fault, request: Request) => Reply
  readonly logger: Logger
}

const METHODS: readonly RowMethod[] = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']

/**
 * The row of a handler, which the OpenAPI document leaves out. Unless it says otherwise it asks
 * for the gateway token.
 */
export function mount({
  handler,
  bytesMax = BODY_BYTES_MAX,
  admit,
  failure = envelopeOf,
  logger,
  ...row
}: MountOptions): Row {
  const server = createServer({ requestTimeout: 0 }, guarded(handler, logger))
  return {
    methods: METHODS,
    token: 'required',
    credentials: 'none',
    isSafe: true,
    ...row,
    reader: incoming(bytesMax, admit),
    answerer: { isLocalised: true, success: (reply: Reply) => reply, failure },
    handle: ({ body, requestId }: Request<Incoming>) => answerOf(server, body, requestId),
  }
}

const incoming = (bytesMax: number, admit: MountOptions['admit']): Reader<Incoming> => ({
  ...NOTHING,
  bytesMax,
  read: () => {
    throw new Error('the body of a mounted row is read by its handler')
  },
  open: (head, exchange) => {
    const { method, target, address } = head
    const refusal = admit?.(address)
    if (refusal !== undefined) return refusal // mount/3
    const hasBody =
      Number(head.header('content-length')) > 0 || head.header('transfer-encoding') !== ''
    const open = exchange.openBody(bytesMax, hasBody)
    return { method, target, address, headers: head.allHeaders(), ...open }
  },
})

const guarded =
  (handler: NodeHandler, logger: Logger): RequestListener =>
  (request, response) => {
    const run = async (): Promise<unknown> => handler(request, response)
    run().catch((error: unknown) => {
      logger.error('a mounted handler failed', { ...reportDefect(error) })
      response.destroy() // mount/1
    })
  }
