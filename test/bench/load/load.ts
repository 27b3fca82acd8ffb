// Load over connections that are open already. load/1: one request in flight per connection.

import { Connection } from './connection.ts'
import type { LoadReport, LoadRequest } from './messages.ts'
import { monotonicUs } from './monotonic.ts'
import { stamp } from './payload.ts'
import type { Prepared } from './payload.ts'
import { Schedule } from './schedule.ts'

/** Between answers nothing spins: the cores belong to the server too. */
const TICK_MS = 1
/** A server that is gone refuses: what would go to it tries the next one, and nothing spins. */
const OPEN_AGAIN_MS = 50
/** uWebSockets.js closes connections after 8 to 12 s of silence. */
const SILENT_US_MAX = 4_000_000

export interface LoadOptions {
  readonly ports: readonly number[]
  readonly connections: number
  readonly requests: readonly Prepared[]
  readonly nowUs?: () => number
}

export class Load {
  readonly #ports: readonly number[]
  readonly #requests: readonly Prepared[]
  readonly #connections = new Set<Connection>()
  readonly #connectionCount: number
  readonly #nowUs: () => number
  #cursor = 0
  /** In the order in which they became idle, so that all of them are used. */
  #idle: Connection[] = []
  #schedule: Schedule | undefined
  #acceptedDueUs: number[] | undefined
  #opened = 0
  #lastLoadUs: number

  constructor({ ports, connections, requests, nowUs = monotonicUs }: LoadOptions) {
    this.#ports = ports
    this.#connectionCount = connections
    this.#requests = requests
    this.#nowUs = nowUs
    this.#lastLoadUs = nowUs()
  }

  get openConnections(): number {
    return this.#connections.size
  }

  /**
   * Opens what is missing, and everything anew after a while without load: a server closes a silent
   * connection, and may do so while the first request is on its way.
   */
  async connect(): Promise<void> {
    if (this.#nowUs() - this.#lastLoadUs > SILENT_US_MAX) this.close()
    const missing = this.#connectionCount - this.#connections.size
    await Promise.all(Array.from({ length: missing }, () => this.#open()))
  }

  async #open(): Promise<void> {
    const port = this.#ports[this.#opened % this.#ports.length] ?? 0
    this.#opened += 1
    const connection = new Connection(port, {
      answered: (answering, status) => this.#answered(answering, status),
      ended: (ended) => this.#ended(ended),
    })
    await connection.connected()
    this.#connections.add(connection)
    this.#idle.push(connection)
  }

  /**
   * Resolves when the schedule is over and everything was answered, or nothing more is to be
   * expected.
   */
  async run(request: LoadRequest): Promise<LoadReport> {
    await this.connect()
    const schedule = new Schedule(request, this.#nowUs())
    this.#schedule = schedule
    this.#acceptedDueUs = request.namesAccepted === true ? [] : undefined
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        this.#pump()
        if (!schedule.isOver(this.#nowUs())) return
        clearInterval(timer)
        this.#schedule = undefined
        this.#lastLoadUs = this.#nowUs()
        resolve(this.#reportOf(schedule))
      }, TICK_MS)
      this.#pump()
    })
  }

  #reportOf(schedule: Schedule): LoadReport {
    const acceptedDueUs = this.#acceptedDueUs
    return { ...schedule.report(), ...(acceptedDueUs !== undefined && { acceptedDueUs }) }
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
    this.#connections.clear()
    this.#idle = []
  }

  /** Sends what is due, as far as connections are idle. */
  #pump(): void {
    const schedule = this.#schedule
    if (schedule === undefined || this.#idle.length === 0) return
    const nowUs = this.#nowUs()
    while (this.#idle.length > 0) {
      const dueUs = schedule.take(nowUs)
      if (dueUs === undefined) return
      const connection = this.#idle.shift() // load/1
      const prepared = this.#requests[this.#cursor]
      if (connection === undefined || prepared === undefined) return
      this.#cursor = (this.#cursor + 1) % this.#requests.length
      connection.dueUs = dueUs
      connection.send(stamp(prepared, Date.now(), Math.floor(dueUs)))
    }
  }

  #answered(connection: Connection, status: number): void {
    this.#schedule?.answered(status, { dueUs: connection.dueUs, nowUs: this.#nowUs() })
    if (status === 200) this.#acceptedDueUs?.push(Math.floor(connection.dueUs))
    this.#idle.push(connection)
    this.#pump()
  }

  #ended(connection: Connection): void {
    const wasOpen = this.#connections.delete(connection)
    this.#idle = this.#idle.filter((other) => other !== connection)
    if (connection.isBusy) this.#schedule?.lost()
    if (wasOpen) this.#openAgain()
    else setTimeout(() => this.#openAgain(), OPEN_AGAIN_MS)
  }

  /**
   * Opens connections again. Requests that none takes meanwhile wait in line, or are missing from
   * the answers.
   */
  #openAgain(): void {
    if (this.#schedule === undefined) return
    this.#open()
      .then(() => this.#pump())
      .catch(() => undefined)
  }
}
