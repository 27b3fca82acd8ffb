// The driver's own executions of prepared statements, one after the other.

import type { DriverConnection } from './driver.ts'
import type { Executions } from './executions.ts'
import type { Changes, RowsStatement, Send } from '#src/store/jobs/executor'

export class DriverExecutions implements Executions {
  readonly #connection: DriverConnection

  constructor(connection: DriverConnection) {
    this.#connection = connection
  }

  make({ sql, values }: RowsStatement): Send {
    return () =>
      new Promise((resolve, reject) => {
        this.#connection.execute(sql, values, (error, result) => {
          if (error === null) resolve(changesOf(result))
          else reject(error)
        })
      })
  }

  /** The driver keeps the order by itself. */
  interrupt(): void {}
}

function changesOf(result: unknown): Changes {
  const affected: unknown =
    typeof result === 'object' && result !== null ? Reflect.get(result, 'affectedRows') : undefined
  return { affected: typeof affected === 'number' ? affected : 0, raw: result }
}
