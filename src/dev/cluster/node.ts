// Runs one node of the cluster: a gateway in a child process, whose log lines become facts.

import { GatewayProcess } from '#src/dev/gateway-process'
import type { Env } from '#src/config/environment'
import { factOf } from './fact.ts'
import type { Fact } from './fact.ts'

export interface NodeOptions {
  readonly name: string
  readonly port: number
  /** The working directory: one without an `.env`. */
  readonly folder: string
  readonly env: Env
  readonly natsUrl: string
  readonly databaseUrl: string
  readonly onFact: (fact: Fact) => void
}

export class ClusterNode extends GatewayProcess {
  readonly name: string
  #lastProblem = ''

  constructor(options: NodeOptions) {
    super({ ...options, settings: settingsOf(options) })
    this.name = options.name
    this.onLine((line) => {
      const fact = factOf(line)
      if (fact === undefined) return
      if (fact.kind === 'problem') this.#keep(fact.text)
      options.onFact(fact)
    })
  }

  /** The node's last problem; empty when it has none. */
  get lastProblem(): string {
    return this.#lastProblem
  }

  /** Keeps the line that names the error: the last lines of a crash do not name it. */
  #keep(problem: string): void {
    if (this.#lastProblem === '' || /error/i.test(problem)) this.#lastProblem = problem
  }
}

const settingsOf = ({ name, natsUrl, databaseUrl }: NodeOptions) => ({
  SERVICE_NODE_ID: name,
  SERVICE_NATS_URL: natsUrl,
  SERVICE_DATABASE_URL: databaseUrl,
  SERVICE_LOG_LEVEL: 'info',
  // The budget limits the guesses of strangers; here every sender is the developer.
  SERVICE_PASSWORD_BUDGET_PER_ADDRESS: '1000000',
  SERVICE_PASSWORD_BUDGET_TOTAL: '1000000',
})
