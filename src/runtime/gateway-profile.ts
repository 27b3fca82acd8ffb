// The profile that a device reads before it connects. (decisions.md 14)

import { CARRIERS } from '#domain/carrier'
import type { Config } from '#src/config/config'
import { MQTT_PATH } from '#src/mqtt/carrier'
import { PROTOCOL, WSS_PATH } from '#src/schemas/frames'

/** The ports that this process has bound, by the names of its doors. */
export type BoundPorts = ReadonlyMap<string, number>

interface ProfileParts {
  readonly version: string
  /** What each push provider that is set up tells of itself, by its name. */
  readonly providers: Readonly<Record<string, object>>
}

/** The data of GET /gateway/profile. The port is the public one where a public address is known. */
export function profileOf(
  config: Config,
  ports: BoundPorts,
  { version, providers }: ProfileParts,
): object {
  const { publicBaseUrl, privateTransports, assistants } = config
  const publicUrl = publicBaseUrl === undefined ? undefined : new URL(publicBaseUrl)
  const publicPort = publicUrl === undefined ? undefined : Number(publicUrl.port || '443')
  const wss = ports.has('wss')
  return {
    private_channel_enabled: CARRIERS.some((carrier) => ports.has(carrier)),
    transport: {
      wss_enabled: wss,
      wss_port: publicPort ?? ports.get('http'),
      wss_path: WSS_PATH,
      ...(wss && publicBaseUrl !== undefined && { wss_url: wssUrl(publicBaseUrl) }),
      ws_subprotocol: PROTOCOL,
      tcp_enabled: ports.has('tcp'),
      tcp_port: portOf('tcp', ports, privateTransports),
      quic_enabled: ports.has('quic'),
      quic_port: portOf('quic', ports, privateTransports),
      mqtt_port: ports.get('mqtt') ?? null,
      mqtts_port: ports.get('mqtts') ?? null,
      mqtt_websocket_path: ports.has('mqtt-websocket') ? MQTT_PATH : null,
    },
    /** True where the pages of /oauth list the assistants of a channel. */
    assistants_enabled: assistants !== undefined,
    limits: {
      body_bytes: 32_768,
      subscribers_per_channel: 32,
      sync_channels: 2000,
      sync_body_bytes: 1_024_000,
    },
    ...providers,
    version,
  }
}

/** The port in the profile: the public port of the settings, else the bound port. */
function portOf(
  carrier: 'tcp' | 'quic',
  ports: BoundPorts,
  settings: Config['privateTransports'],
): number | null {
  const bound = ports.get(carrier)
  return bound === undefined ? null : (settings[carrier].publicPort ?? bound)
}

const wssUrl = (base: string): string => `${base.replace(/^https:/, 'wss:')}${WSS_PATH}`
