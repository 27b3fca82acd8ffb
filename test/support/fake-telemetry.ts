// Numbers and log lines that a test can read.

import type { Logger, Meter } from '#domain/telemetry'

export class FakeMeter implements Meter {
  /** `name` or `name{label values}` → sum of what was counted or observed. */
  readonly totals = new Map<string, number>()
  readonly gauges = new Map<string, () => number>()

  counter(name: string, labels: object): (by?: number) => void {
    const key = keyOf(name, labels)
    return (by = 1) => this.#add(key, by)
  }

  histogram(name: string, labels: object): (value: number) => void {
    const key = keyOf(name, labels)
    return () => this.#add(key, 1)
  }

  gauge(name: string, labels: object, read: () => number): void {
    this.gauges.set(keyOf(name, labels), read)
  }

  total(key: string): number {
    return this.totals.get(key) ?? 0
  }

  #add(key: string, by: number): void {
    this.totals.set(key, this.total(key) + by)
  }
}

function keyOf(name: string, labels: object): string {
  const values = Object.values(labels).join(',')
  return values === '' ? name : `${name}{${values}}`
}

export interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly fact: string
  readonly fields: Readonly<Record<string, unknown>>
}

export class FakeLogger implements Logger {
  readonly lines: Line[] = []

  debug(fact: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.lines.push({ level: 'debug', fact, fields })
  }

  info(fact: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.lines.push({ level: 'info', fact, fields })
  }

  warn(fact: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.lines.push({ level: 'warn', fact, fields })
  }

  error(fact: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.lines.push({ level: 'error', fact, fields })
  }
}
