// What a device asks the gateway before it connects. (decisions.md 14)

import type { Config } from '#src/config/config'

const WSS_PATH = '/private/ws'
const SUBPROTOCOL = 'heliograph.v1'

/** The data of GET /gateway/profile. The port is the public one where a public address is known. */
export function profileOf(config: Config, listenPort: number, version: string): object {
  const { publicBaseUrl, privateTransports, roles } = config
  const publicUrl = publicBaseUrl === undefined ? undefined : new URL(publicBaseUrl)
  const publicPort = publicUrl === undefined ? undefined : Number(publicUrl.port || '443')
  const wss = privateTransports.wss && roles.ingress
  return {
    private_channel_enabled: wss,
    transport: {
      wss_enabled: wss,
      wss_port: publicPort ?? listenPort,
      wss_path: WSS_PATH,
      ...(wss && publicBaseUrl !== undefined && { wss_url: wssUrl(publicBaseUrl) }),
      ws_subprotocol: SUBPROTOCOL,
      tcp_enabled: false,
      tcp_port: null,
      quic_enabled: false,
      quic_port: null,
    },
    limits: {
      body_bytes: 32_768,
      subscribers_per_channel: 32,
      sync_channels: 2000,
      sync_body_bytes: 1_024_000,
    },
    version,
  }
}

const wssUrl = (base: string): string => `${base.replace(/^https:/, 'wss:')}${WSS_PATH}`
