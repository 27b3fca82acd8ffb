// Routes of one pattern for several hosts. The library keeps one handler for each method and
// pattern: another in its place would silently replace it.

import type { Begin, HostCheck, Router } from './router.ts'

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
