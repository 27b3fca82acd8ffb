// The authorization server as one handler for node:http: the library's endpoints and our pages.
//
// Invariants:
//   server/1. A request for another host is refused: a name that was rebound to this address opens
//             nothing (DNS rebinding).
//   server/2. Addresses that the server writes begin with the configured one, never with what a
//             request says.

import type { IncomingMessage, ServerResponse } from 'node:http'

import type { KoaContextWithOIDC, Provider } from 'oidc-provider'

import { reportDefect } from '#domain/defect'
import type { AccessTokens, AssistantPages, Bindings, ClientRegistration } from '#domain/assistants'
import type { AuthorizationRecordStore, BindingStore } from '#domain/authorization-store'
import type { Runtime } from '#domain/runtime'
import type { Logger } from '#domain/telemetry'
import type { Acceptance } from '#src/acceptance/acceptance'
import { localeOf } from '#src/refusals/localise'
import { hashOf } from './adapter.ts'
import { asking, askingOf, whileAsking } from './asking.ts'
import { storedBindings, storedTokens } from './channel-bindings.ts'
import { metadataFetch } from './client-metadata.ts'
import { consentPage } from './consent.ts'
import { cookieNames, strictCookie } from './cookies.ts'
import { Forms } from './forms.ts'
import { guardedFetch } from '#src/outbound/guarded-fetch'
import type { GuardedFetch } from '#src/outbound/guarded-fetch'
import { HTML_TYPE, pageHeaders, pageHtml, paragraph } from './page.ts'
import { assistantsPage, sessionPage, signOutPage } from './pages.ts'
import { createProvider } from './provider.ts'
import { currentSecrets, periodAt } from './secrets.ts'
import type { Secrets } from './secrets.ts'
import { Visit } from './visit.ts'
import { filled, wordsIn } from './words.ts'

/** What answers at a path: the library, or one of the pages. */
export type Endpoint = 'protocol' | 'consent' | 'session' | 'assistants' | 'sign-out'

/** The stores of the server, and time and chance. */
interface GrantStores {
  readonly records: AuthorizationRecordStore
  readonly bindings: BindingStore
  readonly runtime: Pick<Runtime, 'nowMs' | 'entropy' | 'after'>
}

export interface AuthorizationPorts extends GrantStores {
  readonly acceptance: Pick<Acceptance, 'callerCheck' | 'proof'>
  readonly logger: Logger
  /** Only tests replace it. */
  readonly fetch?: GuardedFetch
}

export interface AuthorizationOptions {
  /** The address of the gateway as people and assistants know it. */
  readonly baseUrl: string
  /** The URL that access tokens are made for. */
  readonly resource: string
  readonly registration: ClientRegistration
  readonly pages: AssistantPages
}

/** The parts of this server that the surface for assistants uses. */
export interface Assistants {
  readonly tokens: AccessTokens
  readonly bindings: Bindings
}

/** Makes these parts alone; they need no acceptance stage. */
export const assistantsOf = (
  ports: GrantStores,
  { baseUrl }: Pick<AuthorizationOptions, 'baseUrl'>,
): Assistants => ({
  tokens: storedTokens(ports),
  bindings: storedBindings(ports, (secret) => `${baseUrl}/oauth/session/${secret}`),
})

/** The names that the server gives to its pages. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/
const SECRET = /^[A-Za-z0-9_-]{43}$/
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

interface Current {
  readonly secrets: Secrets
  readonly provider: Provider
}

export class AuthorizationServer {
  readonly #ports: AuthorizationPorts
  readonly #options: AuthorizationOptions
  readonly #fetch: GuardedFetch
  readonly #hosts: readonly string[]
  #current: Promise<Current> | undefined
  #period = -1

  constructor(ports: AuthorizationPorts, options: AuthorizationOptions) {
    const fetch = ports.fetch ?? guardedFetch({ timers: ports.runtime })
    this.#ports = ports
    this.#options = options
    this.#fetch = metadataFetch(ports, fetch)
    this.#hosts = [new URL(options.baseUrl).hostname, ...LOOPBACK]
  }

  /** Answers a request for an endpoint. Rejects when the store does not answer. */
  async handle(
    endpoint: Endpoint,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const host = URL.parse(`http://${request.headers.host ?? ''}`)?.hostname ?? ''
    if (!this.#hosts.includes(host)) return refuse(response, 421, 'unknown_host') // server/1
    const url = new URL(request.url ?? '/', this.#options.baseUrl)
    const name = url.pathname.split('/').at(-1) ?? ''
    if (!NAME.test(name)) return refuse(response, 404, 'route_not_found')
    const { host: ownHost, protocol } = new URL(this.#options.baseUrl)
    request.headers.host = ownHost // server/2
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1) // server/2
    if (url.pathname === '/oauth/authorize') request.url = withScope(url)
    return whileAsking(askingOf(request), async () => {
      const current = await this.#now()
      if (endpoint === 'protocol') return current.provider.callback()(request, response)
      return this.#page(endpoint, this.#visit(current.secrets, request, response), {
        ...current,
        name,
      })
    })
  }

  #page(
    endpoint: Exclude<Endpoint, 'protocol'>,
    visit: Visit,
    { provider, name }: Current & { readonly name: string },
  ): Promise<void> {
    switch (endpoint) {
      case 'consent':
        return consentPage(visit, {
          ...this.#ports,
          provider,
          resource: this.#options.resource,
          browser: async () => (await sessionOf(provider, visit)).accountId,
        })
      case 'session':
        return sessionPage(visit, SECRET.test(name) ? hashOf(name) : '')
      case 'assistants':
        return assistantsPage(visit)
      case 'sign-out':
        return signOutPage(visit, () => this.#forget(provider, visit))
    }
  }

  #visit(secrets: Secrets, request: IncomingMessage, response: ServerResponse): Visit {
    const { baseUrl, pages } = this.#options
    const { entropy } = this.#ports.runtime
    const forms = new Forms({ baseUrl, entropy, keys: () => secrets.cookies })
    return new Visit({ ...this.#ports, forms, pages }, request, response)
  }

  /** Ends the session of a browser and removes its cookies. */
  async #forget(provider: Provider, visit: Visit): Promise<void> {
    const known = await sessionOf(provider, visit)
    if (known.accountId !== undefined) await known.destroy()
    const names = cookieNames(this.#options.baseUrl)
    for (const name of [names.session, `${names.session}.sig`, names.form]) {
      visit.response.appendHeader('set-cookie', `${strictCookie(names, name, '')}; Max-Age=0`)
    }
  }

  /** The library's server with the secrets of this period. */
  #now(): Promise<Current> {
    const period = periodAt(this.#ports.runtime.nowMs())
    if (this.#current === undefined || period !== this.#period) {
      this.#period = period
      this.#current = this.#make()
      // After a failure the next request tries again.
      this.#current.catch(() => (this.#current = undefined))
    }
    return this.#current
  }

  async #make(): Promise<Current> {
    const { records, runtime, logger } = this.#ports
    const secrets = await currentSecrets(this.#ports)
    const revoked = (grantId: string, by: 'client' | 'reuse'): void =>
      logger.info('a grant was revoked', { ...asking(), grantId, by })
    const reused = (grantId: string): void => revoked(grantId, 'reuse')
    const stored = { records, nowMs: runtime.nowMs, after: runtime.after, reused }
    const provider = createProvider(stored, secrets, {
      ...this.#options,
      fetch: this.#fetch,
      errorPage,
      failed: (error) =>
        logger.error('the authorization server failed', { ...asking(), ...reportDefect(error) }),
      revoked,
    })
    return { secrets, provider }
  }
}

/** The session of the browser; one without an account where there is none. */
const sessionOf = (
  provider: Provider,
  { request, response }: Visit,
): ReturnType<Provider['Session']['get']> =>
  provider.Session.get(provider.createContext(request, response))

function errorPage(ctx: KoaContextWithOIDC, error: string): void {
  const locale = localeOf(ctx.get('accept-language'))
  const words = wordsIn(locale)
  const body = paragraph(filled(words.error, { code: error }))
  ctx.set(pageHeaders({ locale }))
  ctx.type = HTML_TYPE
  ctx.body = pageHtml({ status: ctx.status, locale, title: words.errorTitle, body })
}

/** The scope of a client that names none: the tools. */
function withScope(url: URL): string {
  if (url.searchParams.get('scope') === null) url.searchParams.set('scope', 'mcp:tools')
  return url.pathname + url.search
}

function refuse(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify({ error }))
}
