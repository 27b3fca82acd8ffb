// A handler's request: plain values, nothing of the HTTP library.

import type { Caller } from '#src/acceptance/caller'
import type { Origin } from '#src/acceptance/audit'
import type { Exchange } from '#src/http/exchange'
import type { Head } from '#src/http/router'

export interface Request<Body = unknown> extends Caller {
  readonly requestId: string
  /** The body as the row's reader made it; undefined on rows that read none. */
  readonly body: Body
  /** The named parts of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>
  /** Empty on rows that do not read it. */
  readonly query: URLSearchParams
  /** The same as it was sent. */
  readonly sentQuery: string
  /** The headers that the row wants, by their names in lower case; '' for one that was not sent. */
  readonly headers: Readonly<Record<string, string>>
  /** The Accept-Language header; '' for a row that answers in one language. */
  readonly acceptLanguage: string
}

/**
 * The origin of a request. Its address is read when something asks for it: of a caller with a known
 * key nothing does, and reading it costs a twelfth of such a request. A class: V8 would make the
 * getter of a literal anew for each request, and keep it until a full collection.
 */
export class RequestOrigin implements Origin {
  readonly requestId: string
  readonly #exchange: Exchange
  #address: string | undefined

  constructor(head: Head, exchange: Exchange, requestId: string) {
    this.#exchange = exchange
    this.requestId = requestId
    this.#address = head.tellsAddress ? head.address : undefined
  }

  get address(): string {
    return (this.#address ??= this.#exchange.address)
  }
}
