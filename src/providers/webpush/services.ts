// The push services that devices have named, by their origins.
//
// Invariants:
//   webpush-services/1. At most SERVICES_MAX are remembered. A new one takes the place of the one
//     that has been idle for longest.

import { Pool } from 'undici'

import type { Meter } from '#domain/telemetry'
import type { Runtime } from '#domain/runtime'
import type { connectorsFor } from './connector.ts'
import { AT_ONCE_MAX, Service } from './service.ts'
import { TOKEN_USE_MS } from './vapid.ts'

const SERVICES_MAX = 1_000
/** Half of the pushes that Web Push may have in flight. (webpush-service/6) */
const UNTRIED_MAX = 500
const CHECK_EVERY_MS = 1_000
const IDLE_MS_MAX = 600_000
const KEEP_ALIVE_MS = 30_000
/** Nobody reads what a push service says beside its status. */
const ANSWER_BYTES_MAX = 16_384

interface ServicesPorts {
  readonly runtime: Pick<Runtime, 'nowMs' | 'monotonicMs' | 'every'>
  readonly meter: Meter
  readonly connectorOf: ReturnType<typeof connectorsFor>
  /** Returns a new token of the gateway for an origin. */
  readonly authorize: (origin: string) => string
}

export class Services {
  readonly #ports: ServicesPorts
  /** The one that was used last is the last one. */
  readonly #services = new Map<string, Service>()
  readonly #untried = { inFlight: 0, max: UNTRIED_MAX }
  readonly #stopChecks: () => void

  constructor(ports: ServicesPorts) {
    const { runtime, meter } = ports
    this.#ports = ports
    this.#stopChecks = runtime.every(CHECK_EVERY_MS, () => this.#check())
    meter.gauge('push_services', { provider: 'webpush' }, () => this.#services.size)
    meter.gauge('push_services_resting', { provider: 'webpush' }, () => this.#resting)
  }

  /** Returns the service of an origin; undefined while too many others are in use. */
  of(origin: string): Service | undefined {
    const known = this.#services.get(origin)
    if (known === undefined && this.#services.size >= SERVICES_MAX && !this.#forgetOne()) {
      return undefined // webpush-services/1
    }
    const service = known ?? this.#made(origin)
    this.#services.delete(origin)
    this.#services.set(origin, service)
    return service
  }

  async close(): Promise<void> {
    this.#stopChecks()
    await Promise.all([...this.#services.values()].map((service) => service.close()))
  }

  get #resting(): number {
    return [...this.#services.values()].filter(({ isResting }) => isResting).length
  }

  #made(origin: string): Service {
    const { runtime, connectorOf, authorize } = this.#ports
    const { nowMs, monotonicMs } = runtime
    const connections = new Pool(origin, {
      connections: AT_ONCE_MAX,
      pipelining: 1,
      connect: connectorOf(origin),
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxResponseSize: ANSWER_BYTES_MAX,
      // The service ends requests that wait for too long. (webpush-service/2)
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const tokens = { authorize: () => authorize(origin), tokenUseMs: TOKEN_USE_MS }
    const untried = this.#untried
    return new Service({ connections, nowMs, monotonicMs, untried, ...tokens })
  }

  #forgetOne(): boolean {
    for (const [origin, service] of this.#services) {
      if (service.idleSinceMs === undefined) continue
      this.#forget(origin, service)
      return true
    }
    return false
  }

  #check(): void {
    const beforeMs = this.#ports.runtime.monotonicMs() - IDLE_MS_MAX
    for (const [origin, service] of this.#services) {
      service.check()
      if ((service.idleSinceMs ?? Infinity) < beforeMs) this.#forget(origin, service)
    }
  }

  #forget(origin: string, service: Service): void {
    this.#services.delete(origin)
    void service.close()
  }
}
