// Servers as child processes, started as `npm start` starts the product: Node with its flags, a
// script and an environment. Denominators get the same flags.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { reservePort } from '#src/dev/servers/port'
import { NODE_FLAGS } from '#src/process/node-settings'

const START_LIMIT_MS = 60_000
const STOP_LIMIT_MS = 30_000
const COMPLAINTS_MAX = 10

export interface Server {
  readonly pid: number
  readonly port: number
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<void>
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>
}

/** Starts a script of the repository. Resolves once it has printed that it listens. */
export async function startServer(
  script: string,
  environment: Readonly<Record<string, string>>,
): Promise<Server> {
  const { port, release } = await reservePort()
  const child = spawn(process.execPath, [...NODE_FLAGS, ...process.execArgv, script], {
    env: { ...process.env, ...environment, SERVICE_HTTP_ADDR: `127.0.0.1:${port}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // A bench that ends early leaves nothing behind.
  const end = (): boolean => child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => {
    process.off('exit', end)
    void release()
  })
  showComplaints(child)
  await listening(child)
  return { pid: child.pid ?? 0, port, stop: () => stop(child), kill: () => kill(child) }
}

/** Shows the first warnings and errors of a server: a figure that failed should say why. */
function showComplaints(child: ChildProcess): void {
  let left = COMPLAINTS_MAX
  const show = (line: string): void => {
    left -= 1
    if (left >= 0) console.error(`  server: ${line}`)
  }
  if (child.stderr !== null) createInterface({ input: child.stderr }).on('line', show)
  if (child.stdout === null) return
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (/"level":[456]0/.test(line)) show(line)
  })
}

function listening(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (why: string): void => reject(new Error(`${child.spawnargs.join(' ')} ${why}`))
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      refuse('does not listen')
    }, START_LIMIT_MS)
    const refuseExit = (code: number | null): void => {
      clearTimeout(timer)
      refuse(`ended with ${code} before it listened`)
    }
    child.once('exit', refuseExit)
    if (child.stdout === null) return
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (!/"listening"/.test(line)) return
      clearTimeout(timer)
      child.off('exit', refuseExit)
      resolve()
    })
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) throw new Error(`the server had ended with ${child.exitCode}`)
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS)
  await exited
  clearTimeout(timer)
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
