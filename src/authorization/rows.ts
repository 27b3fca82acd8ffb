// The authorization server as rows of the table of routes.

import type { Logger } from '#domain/telemetry'
import type { Style } from '#src/ingress/ingress'
import { mount } from '#src/ingress/mount'
import { AuthorizationServer } from './server.ts'
import type { AuthorizationOptions, AuthorizationPorts } from './server.ts'

/** The metadata of the server, under both of its names. (RFC 8414) */
const METADATA = [
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
] as const
const BODY_BYTES_MAX = 32_768

/** Clients and people of the server have no gateway token. */
export const authorizationStyle =
  (
    { logger, ...ports }: AuthorizationPorts & { readonly logger: Logger },
    options: AuthorizationOptions,
  ): Style =>
  (acceptance) => {
    const server = new AuthorizationServer(acceptance, ports, options)
    const [path, ...alsoAt] = METADATA
    const shared = {
      handler: server.handle.bind(server),
      token: 'none',
      bytesMax: BODY_BYTES_MAX,
      logger,
    } as const
    return [
      mount({ ...shared, path: '/oauth/*' }),
      mount({ ...shared, path, alsoAt, methods: ['GET', 'OPTIONS'] }),
    ]
  }
