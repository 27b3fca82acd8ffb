// The imports that the layout allows. The folders tell the story of a submission; an import against
// it is a mistake, or a change of the architecture.

/**
 * What a folder (or a file) may import beside itself, a row each: folders of ours, and packages.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/domain': [],
  'src/schemas': ['src/domain', 'ajv'],
  machines: ['src/domain', 'xstate'],
  actors: ['src/domain', 'machines', 'xstate'],
  'src/acceptance': ['src/domain', 'src/schemas', 'node:'],
  'src/ingress': ['src/acceptance', 'src/domain', 'src/schemas', 'node:'],
  'src/authorization': [
    'src/acceptance',
    'src/domain',
    'src/ingress',
    'src/schemas',
    'oidc-provider',
    'node:',
  ],
  'src/mcp': [
    'src/acceptance',
    'src/domain',
    'src/ingress',
    'src/schemas',
    '@modelcontextprotocol/server',
  ],
  'src/stream': [
    'src/domain',
    'src/schemas',
    '@nats-io/transport-node',
    '@nats-io/jetstream',
    '@nats-io/kv',
    'node:',
  ],
  'src/dev-servers': ['node:'],
  'src/store': ['src/domain', 'typeorm', 'mysql2', 'node:', 'ormconfig.ts'],
  'src/transports': ['src/domain', 'src/schemas', 'node:'],
  'src/dispatch': ['src/domain', 'rxjs'],
  'src/providers': [
    'src/domain',
    'apns2',
    'firebase-admin/app',
    'firebase-admin/messaging',
    'google-auth-library',
    'node:',
  ],
  'src/client': ['src/domain', 'src/schemas'],
  // Everything of the SDK that a browser cannot have.
  'src/client/node': ['src/client', '@matrixai/quic', '@matrixai/logger', 'node:'],
  'src/telemetry': ['src/domain', 'pino', 'prom-client'],
  'src/cli': [
    'src/client',
    'src/client/node',
    'src/config',
    'src/dev-servers',
    'src/domain',
    'src/process',
    'src/schemas',
    'csv-parse',
    'node:',
  ],
  'ormconfig.ts': ['src/store', 'typeorm', 'mysql2', 'node:'],
  'src/config': ['src/domain', 'node:'],
  'src/threads': [
    'src/config',
    'src/domain',
    'src/process',
    'src/runtime',
    'src/telemetry',
    'src/transports',
    'node:',
  ],
  // The composition root sees every stage; nothing imports it but the edges of process and thread.
  'src/runtime': [
    'src/acceptance',
    'src/authorization',
    'src/config',
    'src/dispatch',
    'src/domain',
    'src/ingress',
    'src/mcp',
    'src/schemas',
    'src/providers',
    'src/stream',
    'src/store',
    'src/threads',
    'src/transports',
    'src/telemetry',
    'actors',
    'machines',
    'node:',
  ],
  'src/process': [
    'src/config',
    'src/domain',
    'src/runtime',
    'src/telemetry',
    'src/threads',
    'node:',
  ],
  'src/main.ts': ['src/config', 'src/process'],
}

/** Few files absorb a library, so that no type of it reaches a handler or a session. */
export const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  'uWebSockets.js': [
    'src/ingress/applications.ts',
    'src/ingress/http.ts',
    'src/ingress/exchange.ts',
    'src/ingress/websocket.ts',
    'src/transports/wss.ts',
  ],
  '@matrixai/quic': ['src/transports/quic.ts', 'src/client/node/quic.ts'],
  '@matrixai/logger': ['src/transports/quic.ts', 'src/client/node/quic.ts'],
}
