// Runs a shell command for each delivery.
//
// Invariants:
//   delivery-commands/1. No more commands run at once than `jobs`; the next delivery waits.
//   delivery-commands/2. With one job the next command starts after the one before has ended, so
//     the commands keep the order of the deliveries.

import { spawn } from 'node:child_process'

import type { Env } from '#src/config/environment'
import { deliveryJson, membersOf } from './delivery-members.ts'
import type { Named } from './delivery-members.ts'

export interface CommandsOptions {
  /** For `sh -c`. */
  readonly command: string
  readonly jobs: number
  readonly env: Env
  readonly printDiagnostic: (line: string) => void
}

export class DeliveryCommands {
  readonly #options: CommandsOptions
  readonly #running = new Set<Promise<void>>()

  constructor(options: CommandsOptions) {
    this.#options = options
  }

  /** Resolves when the next delivery may come. Never rejects. */
  async run(named: Named): Promise<void> {
    const running = this.#start(named).finally(() => this.#running.delete(running))
    this.#running.add(running)
    if (this.#running.size >= this.#options.jobs) await Promise.race(this.#running)
  }

  /** Resolves when no command runs. */
  async idle(): Promise<void> {
    await Promise.all(this.#running)
  }

  /** Resolves when the command has ended; a diagnostic reports a failed one. */
  async #start(named: Named): Promise<void> {
    const { command, env, printDiagnostic } = this.#options
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const child = spawn(command, {
      shell: true,
      env: { ...env, ...variablesOf(named) },
      stdio: ['pipe', 'inherit', 'inherit'],
    })
    child.once('error', (error) => resolve(`did not start: ${error.message}`))
    child.once('close', (code, signal) => {
      resolve(code === 0 ? undefined : `ended with ${signal ?? code}`)
    })
    child.stdin.on('error', () => {}) // a command need not read it
    child.stdin.end(`${deliveryJson(named)}\n`)
    const problem = await promise
    if (problem !== undefined)
      printDiagnostic(`the command for ${named.delivery.deliveryId} ${problem}`)
  }
}

/** The delivery as variables: HELIOGRAPH_CHANNEL, HELIOGRAPH_SEQ and so on. */
function variablesOf(named: Named): Readonly<Record<string, string>> {
  const {
    channel_id: channel,
    payload: _payload,
    plaintext: _plaintext,
    ...more
  } = membersOf(named)
  const { replay: _replay, rev: _rev, ...facts } = more
  const { title, body, severity } = named.delivery.payload
  const texts = { channel, ...facts, title, body, severity }
  return Object.fromEntries(
    Object.entries(texts).map(([name, value = '']) => [
      `HELIOGRAPH_${name.toUpperCase()}`,
      variable(value),
    ]),
  )
}

/** A variable cannot hold a zero byte. */
const variable = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\0', '')
