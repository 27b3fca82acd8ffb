// The setting that lets AI assistants in. (docs/decisions.md 15)

import { oneOf, refuse } from './setting.ts'
import type { Address, Env } from './setting.ts'

export interface AssistantSettings {
  /**
   * The address of the gateway as people and assistants know it, without a slash at the end: access
   * tokens are made for it. https, unless the listener is on the loopback.
   */
  readonly baseUrl: string
}

/** The settings that say how the gateway is reached. */
export interface Reached {
  readonly http: Address
  readonly tls: object | undefined
  readonly publicBaseUrl: string | undefined
}

const NAME = 'SERVICE_MCP_ENABLED'
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/i

/** Undefined where assistants are not let in. */
export function assistants(env: Env, reached: Reached): AssistantSettings | undefined {
  if (oneOf(env, NAME, 'false', ['true', 'false']) === 'false') return undefined
  return Object.freeze({ baseUrl: reached.publicBaseUrl ?? loopbackUrl(reached) })
}

function loopbackUrl({ http: { host, port }, tls }: Reached): string {
  if (!LOOPBACK.test(host)) {
    const allowed = 'an https origin in SERVICE_PUBLIC_BASE_URL, or a loopback SERVICE_HTTP_ADDR'
    refuse(NAME, 'is true, and others reach the listener', allowed)
  }
  const scheme = tls === undefined ? 'http' : 'https'
  return new URL(`${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`).origin
}
