// A handler's request: plain values, nothing of the HTTP library.

import type { Caller } from '#src/acceptance/caller'
import type { Peer } from '#src/acceptance/caller-check'
import type { Head } from '#src/http/router'

export interface Request<Body = unknown> extends Caller {
  readonly requestId: string
  /** The body as the row's reader made it; undefined on rows that read none. */
  readonly body: Body
  /** The named parts of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>
  /** Empty on rows that do not read it. */
  readonly query: URLSearchParams
  /** The headers that the row wants, by their names in lower case; '' for one that was not sent. */
  readonly headers: Readonly<Record<string, string>>
  /** The Accept-Language header; '' for a row that answers in one language. */
  readonly acceptLanguage: string
}

/**
 * The origin of a request, whose address can be read as long as its head. A class: V8 would make
 * the getter of a literal anew for each request, and keep it until a full collection.
 */
export class RequestPeer implements Peer {
  readonly requestId: string
  readonly #head: Head

  constructor(head: Head, requestId: string) {
    this.#head = head
    this.requestId = requestId
  }

  get address(): string {
    return this.#head.address
  }
}
