// The setting that lets AI assistants in. (docs/decisions.md 15)

import type { AssistantPages, ClientRegistration } from '#domain/assistants'
import { isLoopback } from '#domain/host'
import { oneOf, read, refuse } from './setting.ts'
import type { Address, Env } from './setting.ts'

export interface AssistantSettings {
  /**
   * The address of the gateway as people and assistants know it, without a slash at the end: access
   * tokens are made for it. https, unless the listener is on the loopback.
   */
  readonly baseUrl: string
  readonly registration: ClientRegistration
  readonly pages: AssistantPages
}

/** The settings that say how the gateway is reached. */
export interface Reached {
  readonly http: Address
  readonly tls: object | undefined
  readonly publicBaseUrl: string | undefined
}

const NAME = 'SERVICE_MCP_ENABLED'

/** Undefined where assistants are not let in. */
export function assistants(env: Env, reached: Reached): AssistantSettings | undefined {
  const accepted = { registration: registration(env), pages: pages(env) } // Checked in any case.
  if (oneOf(env, NAME, 'false', ['true', 'false']) === 'false') return undefined
  const baseUrl = reached.publicBaseUrl ?? loopbackUrl(reached)
  // The well-known addresses of RFC 8414 and RFC 9728 begin at the root of a host.
  if (new URL(baseUrl).pathname !== '/') {
    const problem = 'is true, and SERVICE_PUBLIC_BASE_URL has a path'
    refuse(NAME, problem, 'an https origin in SERVICE_PUBLIC_BASE_URL')
  }
  return Object.freeze({ baseUrl, ...accepted })
}

const TOKEN = 'SERVICE_OAUTH_REGISTRATION_TOKEN'
const TOKEN_FORM = /^[\x21-\x7e]{16,512}$/

function registration(env: Env): ClientRegistration {
  const token = read(env, TOKEN)
  const kind = oneOf(env, 'SERVICE_OAUTH_REGISTRATION', 'open', ['open', 'off'])
  if (kind === 'off' || token === undefined) return { kind }
  if (!TOKEN_FORM.test(token)) {
    refuse(TOKEN, 'cannot be sent as a Bearer token', '16 to 512 visible ASCII characters')
  }
  return { kind: 'with-token', token }
}

const PAGES = 'SERVICE_OAUTH_PAGES'

function pages(env: Env): AssistantPages {
  const asked = oneOf(env, PAGES, 'password', ['password', 'token'])
  if (asked === 'token' && read(env, 'SERVICE_TOKEN') === undefined) {
    refuse(PAGES, 'is token, and SERVICE_TOKEN is empty', 'token together with a SERVICE_TOKEN')
  }
  return asked
}

function loopbackUrl({ http: { host, port }, tls }: Reached): string {
  if (!isLoopback(host)) {
    const allowed = 'an https origin in SERVICE_PUBLIC_BASE_URL, or a loopback SERVICE_HTTP_ADDR'
    refuse(NAME, 'is true, and others reach the listener', allowed)
  }
  const scheme = tls === undefined ? 'http' : 'https'
  return new URL(`${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`).origin
}
