// Runs a program to its end.

import { spawn } from 'node:child_process'

import { atExit } from './at-exit.ts'
import type { Surroundings } from './programs.ts'

const OUTPUT_KEPT = 2000

export interface ProgramRun {
  readonly file: string
  readonly parameters: readonly string[]
  readonly env: Surroundings
}

/**
 * Resolves when it ended with code 0; rejects with its last output otherwise. It has a process
 * group of its own: Ctrl-C in a terminal does not reach it, and what it started ends with this
 * process.
 */
export function runToEnd({ file, parameters, env }: ProgramRun): Promise<void> {
  const child = spawn(file, parameters, {
    env: { ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const forget = atExit(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  })
  let said = ''
  const hear = (chunk: Buffer): void => {
    said = (said + chunk.toString()).slice(-OUTPUT_KEPT)
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  return new Promise((resolve, reject) => {
    const fail = (what: string): void => reject(new Error(`${file} ${what}: ${said.trim()}`))
    child.once('error', (error) => {
      forget()
      fail(`could not be started (${error.message})`)
    })
    child.once('close', (code, signal) => {
      forget()
      if (code === 0) resolve()
      else fail(`ended with ${code ?? signal}`)
    })
  })
}
