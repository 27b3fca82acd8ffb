// Numbers and log lines that a test can read.

import type { Logger, Meter } from '#domain/telemetry'

export class FakeMeter implements Meter {
  /** `name` or `name{label values}` → sum of what was counted or observed. */
  readonly totals = new Map<string, number>()
  readonly gauges = new Map<string, () => number>()

  counter(name: string, labels: object): (by?: number) => void {
    return (by = 1) => this.#add(name, labels, by)
  }

  histogram(name: string, labels: object): (value: number) => void {
    return () => this.#add(name, labels, 1)
  }

  gauge(name: string, labels: object, read: () => number): void {
    const values = Object.values(labels)
    this.gauges.set(values.length === 0 ? name : `${name}{${values.join(',')}}`, read)
  }

  total(key: string): number {
    return this.totals.get(key) ?? 0
  }

  #add(name: string, labels: object, by: number): void {
    const values = Object.values(labels).join(',')
    const key = values === '' ? name : `${name}{${values}}`
    this.totals.set(key, this.total(key) + by)
  }
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
