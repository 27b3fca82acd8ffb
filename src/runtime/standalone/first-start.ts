// Tries the ports of a first start before it makes a database, so that a start without its ports
// leaves no file behind. Where the database exists, its lock comes first: the process that holds
// the lock usually has the ports too, and the refusal names that process.

import { existsSync } from 'node:fs'

import { cannotListen } from '#domain/listen-address'
import type { ListenAddress } from '#domain/listen-address'
import type { Config } from '#src/config/config'
import { whyNotBound } from '#src/http/port-check'
import { sqliteFileOf } from '#src/store/sqlite/source'

type Port = ListenAddress & { readonly protocol: 'tcp' | 'udp' }

/** Rejects with a sentence for the operator when a new database would have no listener. */
export async function tryPortsOnFirstStart(config: Config): Promise<void> {
  const file = sqliteFileOf(config.databaseUrl)
  if (file === undefined || existsSync(file)) return
  for (const { protocol, ...address } of portsOf(config)) {
    const reason = await whyNotBound(address, protocol)
    if (reason !== undefined) throw cannotListen(address, reason)
  }
}

/** Each port that a setting names, and its protocol. */
function portsOf({ http, roles, compatibilityRoot, privateTransports }: Config): readonly Port[] {
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
  ]
  return ports.filter((port) => typeof port === 'object')
}
