// The ports on which a process listens.

import { isLoopback } from '#domain/host'
import type { ListenAddress } from '#domain/listen-address'
import type { Config } from './config.ts'

type Port = ListenAddress & { readonly protocol: 'tcp' | 'udp' }

/** Each port that a setting names, and its protocol. */
export function portsOf({
  http,
  roles,
  compatibilityRoot,
  privateTransports,
  mqtt,
}: Config): readonly Port[] {
  const main: Port = { ...http, setting: 'SERVICE_HTTP_ADDR', protocol: 'tcp' }
  if (!roles.ingress) return [main]
  const { carriers, tcp, quic } = privateTransports
  const root = compatibilityRoot?.address
  const ports: (Port | false | undefined)[] = [
    main,
    root && { ...root, setting: 'SERVICE_COMPAT_ADDR', protocol: 'tcp' },
    carriers.includes('tcp') && { ...tcp, setting: 'SERVICE_PRIVATE_TCP_ADDR', protocol: 'tcp' },
    carriers.includes('quic') && {
      ...quic,
      setting: 'SERVICE_PRIVATE_QUIC_ADDR',
      protocol: 'udp',
    },
    mqtt.plain && { ...mqtt.plain, setting: 'SERVICE_MQTT_ADDR', protocol: 'tcp' },
    mqtt.tls && { ...mqtt.tls, setting: 'SERVICE_MQTT_TLS_ADDR', protocol: 'tcp' },
  ]
  return ports.filter((port) => typeof port === 'object')
}

/** A gateway token of fewer characters can be guessed. */
export const TOKEN_CHARACTERS_MIN = 16

/** True for a gateway token that can be guessed, where other computers reach a listener. */
export const hasWeakToken = (config: Config): boolean =>
  config.token !== '' &&
  config.token.length < TOKEN_CHARACTERS_MIN &&
  portsOf(config).some(({ host }) => !isLoopback(host))
