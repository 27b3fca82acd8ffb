// What attackers can reach beside the defaults: assistants, QUIC, MQTT, and names that nobody
// answers.

import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { reservePort } from '#src/dev/servers/port'
import { REDIRECT_URI } from '#test/bench/load/strangers'
import { textOf } from './caller.ts'
import { makeCertificate } from './certificate.ts'
import type { Settings } from './gateway.ts'
import type { Server } from './server.ts'

/** The settings that open these doors on the loopback, and what stands behind them. */
export class OpenDoors {
  readonly settings: Settings
  readonly quicPort: number
  readonly mqttPort: number
  readonly #names: Socket
  readonly #release: () => Promise<void>
  #questions = 0

  /** Opens a name server that never answers, and makes a certificate in this folder. */
  static async open(directory: string): Promise<OpenDoors> {
    const certificate = await makeCertificate(directory)
    const quic = await reservePort()
    const mqtt = await reservePort()
    const names = createSocket('udp4').bind(0, '127.0.0.1')
    await once(names, 'listening')
    const preloaded = new URL('mute-names.ts', import.meta.url)
    const settings = {
      SERVICE_MCP_ENABLED: 'true',
      // Each request tells an address of its own, so that the floods come from many.
      SERVICE_TRUSTED_PROXIES: '127.0.0.1/32',
      SERVICE_PRIVATE_TRANSPORTS: 'wss,quic',
      SERVICE_PRIVATE_QUIC_ADDR: `127.0.0.1:${quic.port}`,
      SERVICE_MQTT_ADDR: `127.0.0.1:${mqtt.port}`,
      SERVICE_MQTT_WS: 'true',
      SERVICE_PRIVATE_TLS_CERT: certificate.certFile,
      SERVICE_PRIVATE_TLS_KEY: certificate.keyFile,
      NODE_OPTIONS: `--import=${preloaded.href}`,
      HELIOGRAPH_NAME_SERVER: `127.0.0.1:${names.address().port}`,
    }
    const release = async (): Promise<void> => {
      await Promise.all([quic.release(), mqtt.release()])
    }
    const ports = { quicPort: quic.port, mqttPort: mqtt.port }
    return new OpenDoors({ settings, ...ports, names, release })
  }

  private constructor(made: {
    readonly settings: Settings
    readonly quicPort: number
    readonly mqttPort: number
    readonly names: Socket
    readonly release: () => Promise<void>
  }) {
    this.settings = made.settings
    this.quicPort = made.quicPort
    this.mqttPort = made.mqttPort
    this.#names = made.names
    this.#release = made.release
    this.#names.on('message', () => (this.#questions += 1))
  }

  /** Questions that the name server was asked. */
  get questions(): number {
    return this.#questions
  }

  async close(): Promise<void> {
    this.#names.close()
    await this.#release()
  }
}

/** Registers a client with the authorization server and returns its id. */
export async function registerClient({ port }: Pick<Server, 'port'>): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI] }),
  })
  const answer: unknown = await response.json()
  if (typeof answer !== 'object' || answer === null) throw new Error('no client was registered')
  return textOf(answer, 'client_id')
}

/** Returns the size of all files below a folder, in MB of 10^6 bytes. */
export async function diskMbOf(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true })
  const sizes = await Promise.all(entries.map((entry) => bytesOf(join(directory, entry))))
  return sizes.reduce((sum, size) => sum + size, 0) / 1e6
}

async function bytesOf(path: string): Promise<number> {
  try {
    const seen = await stat(path)
    return seen.isFile() ? seen.size : 0
  } catch {
    return 0 // It has gone away meanwhile.
  }
}
