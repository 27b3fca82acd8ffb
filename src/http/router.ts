// The interface between routes and what hands requests to them, without the HTTP library.

import type { Exchange } from './exchange.ts'
import type { Header } from './reply.ts'

/** The head of a request. Readable only until the handler that got it returns. (http/1) */
export interface Head {
  readonly method: string
  /** The first value of a header; '' when there is none. */
  header(name: string): string
  /** Every header line as sent, its name in lower case. */
  allHeaders(): readonly Header[]
  /** The query as sent, without the question mark. */
  query(): string
  /** Path and query as sent. */
  readonly target: string
  /** A part of the path as sent, by its place among the named parts. */
  parameter(index: number): string
  /** The address of the caller, also behind a trusted proxy. */
  readonly address: string
  /** True when the head may tell it; false when the exchange can, as long as it is not over. */
  readonly tellsAddress: boolean
}

export type Begin = (head: Head, exchange: Exchange) => void
export type RowMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'
export type Method = RowMethod | 'HEAD' | 'any'

/** Hands each request to its route. */
export interface Router {
  readonly isDraining: boolean
  readonly inFlight: number
  route(method: Method, pattern: string, begin: Begin): void
  /** Gets requests for a WebSocket: a stream as the answer goes out in its frames. */
  socket(pattern: string, begin: Begin): void
}

/** True when a router serves this host, which comes in lower case and without its port. */
export type HostCheck = (host: string) => boolean

// Routes of one pattern for several hosts. The library keeps one handler for each method and
// pattern: another in its place would silently replace it.

/** The handlers of one method and pattern. */
export type Begins = readonly { readonly begin: Begin; readonly isFor: HostCheck | undefined }[]

export class HostRoutes {
  readonly #begins = new Map<string, Begins[number][]>()

  /** Returns the handlers when they are to be registered: the first time. */
  add(key: string, begin: Begin, isFor: HostCheck | undefined): Begins | undefined {
    const known = this.#begins.get(key)
    const added = { begin, isFor }
    if (known !== undefined) {
      known.push(added)
      return undefined
    }
    const begins = [added]
    this.#begins.set(key, begins)
    return begins
  }
}

/** The handler for a request; undefined when the request goes on to the next pattern. */
export function beginFor(begins: Begins, hostHeader: () => string): Begin | undefined {
  let host: string | undefined
  return begins.find(
    ({ isFor }) => isFor === undefined || isFor((host ??= hostNameOf(hostHeader()))),
  )?.begin
}

/** The name of a Host header, without port and final dot. */
const hostNameOf = (host: string): string =>
  host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()

/** The part of the whole router that a router of some hosts uses. */
interface Whole extends Pick<Router, 'isDraining' | 'inFlight'> {
  route(...route: [...Parameters<Router['route']>, HostCheck]): void
  socket(...route: [...Parameters<Router['socket']>, HostCheck]): void
}

/** Adds its host check to every route. */
export class HostRouter implements Router {
  readonly #http: Whole
  readonly #isFor: HostCheck

  constructor(http: Whole, isFor: HostCheck) {
    this.#http = http
    this.#isFor = isFor
  }

  get isDraining(): boolean {
    return this.#http.isDraining
  }

  get inFlight(): number {
    return this.#http.inFlight
  }

  route(...route: Parameters<Router['route']>): void {
    this.#http.route(...route, this.#isFor)
  }

  socket(...route: Parameters<Router['socket']>): void {
    this.#http.socket(...route, this.#isFor)
  }
}
