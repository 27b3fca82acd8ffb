// The listeners of an ingress: its own, and one for an imitated tool whose clients take no path
// before their own. What one does with a request the other does too.

import type { Answerer } from './answerer.ts'
import { createHttp } from './http.ts'
import type { Http, HttpOptions } from './http.ts'
import { Pipeline } from './pipeline.ts'
import type { PipelinePorts } from './pipeline.ts'
import type { Reply } from './reply.ts'
import type { Row } from './row.ts'

/** What stands behind one address. */
export interface DoorOptions {
  readonly address: { readonly host: string; readonly port: number }
  readonly rows: readonly Row[]
  /** How an unknown path is answered, when not in the envelope. */
  readonly unknown?: Answerer<never> | undefined
}

export interface Door {
  readonly http: Http
  /** Counts an answer that was given beside the pipeline. */
  count(reply: Reply): void
  /** Gives the bound port. */
  listen(): Promise<number>
}

/** Makes a listener with its rows; it takes requests once it listens. */
export function openDoor(
  { address, rows, unknown }: DoorOptions,
  ports: Omit<PipelinePorts, 'http'>,
  options: HttpOptions,
): Door {
  const http = createHttp(options)
  const pipeline = new Pipeline({ ...ports, http })
  pipeline.mount(rows, unknown)
  return {
    http,
    count: (reply) => pipeline.count(reply),
    listen: () => http.listen(address.host, address.port),
  }
}

/** A figure over all doors. */
export const sumOf = (doors: readonly Door[], figure: (http: Http) => number): number =>
  doors.reduce((sum, { http }) => sum + figure(http), 0)
