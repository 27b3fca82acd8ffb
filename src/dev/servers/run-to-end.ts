import { spawn } from 'node:child_process'

import { atExit } from './at-exit.ts'
import type { Environment } from './programs.ts'

const OUTPUT_KEPT = 2000

export interface ProgramRun {
  readonly file: string
  readonly parameters: readonly string[]
  readonly env: Environment
}

/**
 * Runs a program. Resolves when it ends with code 0; rejects with its last output otherwise. The
 * program gets a process group of its own: Ctrl-C in a terminal does not reach it, and this process
 * kills the whole group when it ends first.
 */
export function runToEnd({ file, parameters, env }: ProgramRun): Promise<void> {
  const child = spawn(file, parameters, {
    env: { ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const cancelCleanup = atExit(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  })
  let output = ''
  const onOutput = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-OUTPUT_KEPT)
  }
  child.stdout.on('data', onOutput)
  child.stderr.on('data', onOutput)
  return new Promise((resolve, reject) => {
    const fail = (what: string): void => reject(new Error(`${file} ${what}: ${output.trim()}`))
    child.once('error', (error) => {
      cancelCleanup()
      fail(`could not be started (${error.message})`)
    })
    child.once('close', (code, signal) => {
      cancelCleanup()
      if (code === 0) resolve()
      else fail(`ended with ${code ?? signal}`)
    })
  })
}
