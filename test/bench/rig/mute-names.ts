// Loaded before a benchmarked gateway: each resolver that it makes asks the name server that
// `HELIOGRAPH_NAME_SERVER` names, as `address:port`, in place of the system's.

import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'

const { Resolver } = dns
const server = process.env['HELIOGRAPH_NAME_SERVER'] ?? ''

dns.Resolver = class extends Resolver {
  constructor(...options: ConstructorParameters<typeof Resolver>) {
    super(...options)
    this.setServers([server])
  }
}
syncBuiltinESMExports()
