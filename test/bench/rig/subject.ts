// What can be put under load: the product and the denominators, behind one type.

import type { Recipe } from '#test/bench/load/payload'
import type { RowCounts } from './database.ts'
import type { Server } from './server.ts'

/** A server that is ready to be measured. */
export interface Subject {
  readonly name: string
  readonly server: Server
  readonly recipe: Recipe
  /** Devices whose sessions together see every channel; none: nothing is delivered. */
  readonly deviceKeys: readonly string[]
  /** Submissions applied since it was started; undefined: it applies nothing. */
  applied(): Promise<number | undefined>
  /** Undefined: it keeps nothing. */
  count(): Promise<RowCounts | undefined>
  /** What ran: engine, sync, lanes, batch limits, processes. */
  readonly ran: Readonly<Record<string, string | number>>
}

/** The sum over all labels of a counter in a Prometheus text. */
export function counterIn(text: string, name: string): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

/** Submissions that ended, as the server's own metrics tell. */
export async function operationsEnded({ port }: Server, token: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, {
    headers: token === '' ? {} : { authorization: `Bearer ${token}` },
  })
  return counterIn(await response.text(), 'heliograph_operations_total')
}
