// GET /healthz, /readyz, /gateway/profile, /metrics: what operators and devices ask the gateway
// itself. (decisions.md 14)

import { fault } from '#domain/fault'
import type { Probe, Readiness, Timers } from '#domain/ports'
import type { Handler } from './request.ts'

export interface ReadinessPorts {
  readonly probes: readonly Probe[]
  /** How safe an accepted submission is right now, in words. */
  readonly durability: () => string
  readonly timers: Timers
}

const PROBE_TIMEOUT_MS = 2_000

export const health: Handler = () => ({ status: 'ok' })

/**
 * One entry a dependency. A probe that fails or does not answer is a dependency that is not ready.
 */
export function readiness({ probes, durability, timers }: ReadinessPorts): Handler {
  const named = probes.map((probe, at) => ({ probe, name: `dependency ${at + 1}` }))
  return async () => {
    const dependencies = await Promise.all(named.map((each) => ask(each, timers)))
    const isReady = dependencies.every(({ ready }) => ready)
    const data = { status: isReady ? 'ok' : 'unready', durability: durability(), dependencies }
    return isReady ? data : { kind: 'unready', fault: fault('server_busy'), data }
  }
}

interface NamedProbe {
  readonly probe: Probe
  /** What it called itself when it last answered. */
  name: string
}

async function ask(named: NamedProbe, timers: Timers): Promise<Readiness> {
  let cancel = (): void => {}
  const silence = new Promise<undefined>((resolve) => {
    cancel = timers.after(PROBE_TIMEOUT_MS, () => resolve(undefined))
  })
  try {
    const answer = await Promise.race([named.probe.readiness(), silence])
    if (answer === undefined) return { name: named.name, ready: false, detail: 'no answer in time' }
    named.name = answer.name
    return { name: answer.name, ready: answer.ready, detail: answer.detail }
  } catch {
    // What went wrong is the dependency's own to log; here it could carry a secret.
    return { name: named.name, ready: false, detail: 'the check failed' }
  } finally {
    cancel()
  }
}

export const profile =
  (read: () => object): Handler =>
  () =>
    read()

/** Prometheus text. */
export function metrics(read: () => Promise<string>): Handler {
  return async () => ({
    kind: 'document',
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    body: await read(),
  })
}
