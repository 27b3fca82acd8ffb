// What the gateway takes over MQTT, beside a bare server and mosquitto, and what an idle client
// costs.

import { join } from 'node:path'

import { spread } from '#test/bench/load/statistics'
import { keysOf } from '#test/bench/rig/channel-keys'
import { prepareKeyed } from '#test/bench/rig/keyed'
import { MqttClients } from '#test/bench/rig/load-process'
import { Publishing, openMqttGateway } from '#test/bench/rig/mqtt'
import { residentMbOf } from '#test/bench/rig/processes'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'
import { warmRate } from './warm.ts'

const CLIENTS = 256

const ACCEPT = {
  row: 'mqtt-accept',
  unit: 'publishes/s',
  goal: { kind: 'ratio-at-least', must: 0.15, aim: 0.25 },
} as const
const OVER_HTTP = {
  row: 'mqtt-accept.over-http',
  unit: 'publishes/s',
  goal: { kind: 'ratio-at-least', must: 1.9, aim: 2.2 },
} as const

interface Rates {
  readonly product: readonly number[]
  readonly bare: readonly number[]
  readonly mosquitto: readonly number[]
}

export const MQTT_ACCEPT_ROW: Row = {
  name: 'mqtt-accept',
  async measure(session) {
    try {
      const rates = await ratesOf(session)
      const http = await session.measure(session.accept('embedded'))
      return figuresOf(rates, http.knee?.median)
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error)
      return [{ ...ACCEPT, value: undefined, failure, details: {} }]
    }
  },
}

function figuresOf({ product, bare, mosquitto }: Rates, http: number | undefined): Figure[] {
  const over = (others: readonly number[]) =>
    spread(product.map((rate, run) => rate / (others[run] ?? Number.NaN)))
  const value = spread(product)
  const details = { clients: CLIENTS, product, bare, mosquitto }
  const denominator = { id: 'D11', value: spread(bare), ratio: over(bare) } as const
  const overHttp = http === undefined ? undefined : product.map(() => http)
  return [
    { ...ACCEPT, value, denominator, details },
    {
      ...OVER_HTTP,
      value,
      details,
      ...(overHttp !== undefined && {
        denominator: { id: 'accept-embedded', value: spread(overHttp), ratio: over(overHttp) },
      }),
    },
  ]
}

/** All in turn. */
async function ratesOf({ options, subjects }: Session): Promise<Rates> {
  const directory = join(await subjects.scratch(), 'mqtt-accept')
  const servers = {
    bare: await Publishing.bare(CLIENTS),
    product: await Publishing.product(directory, CLIENTS),
    mosquitto: await Publishing.mosquitto(CLIENTS),
  }
  const rates = { product: [] as number[], bare: [] as number[], mosquitto: [] as number[] }
  try {
    const durationMs = options.secondsPerStep * 1_000
    const step = async (name: keyof typeof servers, note = ''): Promise<number> => {
      const rate = (await servers[name]?.rate(durationMs)) ?? 0
      options.say(`  ${name}: ${Math.round(rate)}/s${note}`)
      return rate
    }
    const names = (['bare', 'product', 'mosquitto'] as const).filter((name) => servers[name])
    for (const name of names) await warmRate(() => step(name, ' (to warm up)'))
    for (let run = 0; run < options.runs; run += 1) {
      for (const name of names) rates[name].push(await step(name))
    }
    return rates
  } finally {
    for (const server of Object.values(servers)) await server?.stop()
  }
}

const IDLE_CLIENTS = 4_000
const [KEY = ''] = keysOf(1)
const SETTLE_MS = 15_000

/** Figures of a client; 4,000 are connected, as the limits of open files allow. */
export const MQTT_IDLE_ROW: Row = {
  name: 'mqtt-idle',
  async measure(session) {
    const kilobytes: number[] = []
    for await (const directory of session.directories('mqtt-idle')) {
      const gateway = await openMqttGateway(
        directory,
        await prepareKeyed(directory, { channels: 1 }),
      )
      const clients = new MqttClients()
      try {
        await passing(SETTLE_MS)
        const before = residentMbOf(gateway.server.pid)
        await clients.connect(
          gateway.mqttPort,
          Array.from({ length: IDLE_CLIENTS }, () => KEY),
          IDLE_CLIENTS,
        )
        await passing(SETTLE_MS)
        const taken = ((residentMbOf(gateway.server.pid) - before) * 1_000) / IDLE_CLIENTS
        session.options.say(`  ${taken.toFixed(1)} KB each`)
        kilobytes.push(taken)
      } finally {
        await clients.stop()
        await gateway.stop()
      }
    }
    const goal = { kind: 'at-most', must: 20, aim: 10 } as const
    const details = { clients: IDLE_CLIENTS }
    return [{ row: 'mqtt-idle', unit: 'KB per client', value: spread(kilobytes), goal, details }]
  },
}

const passing = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
