// The authorization server as one handler for node:http: the library's endpoints and our pages.
//
// Invariants:
//   server/1. A request for another host is refused: a name that was rebound to this address opens
//             nothing (DNS rebinding).
//   server/2. Addresses that the server writes begin with the configured one, never with what a
//             request says.
//   server/3. Registrations have a budget for each address.

import type { IncomingMessage, ServerResponse } from 'node:http'

import type { Provider } from 'oidc-provider'

import type { AccessTokens, Bindings, ClientRegistration } from '#domain/assistants'
import type { AuthorizationRecordStore, BindingStore } from '#domain/authorization-store'
import type { Runtime } from '#domain/runtime'
import type { Acceptance } from '#src/acceptance/acceptance'
import { createBudget } from '#src/acceptance/budget'
import { localeOf } from '#src/refusals/localise'
import { hashOf } from './adapter.ts'
import { nameGrant, storedBindings, storedTokens } from './channel-bindings.ts'
import { consentPage } from './consent.ts'
import { Forms } from './forms.ts'
import { guardedFetch } from './guarded-fetch.ts'
import type { GuardedFetch } from './guarded-fetch.ts'
import { escaped, pageHeaders } from './page.ts'
import { Visit, assistantsPage, sessionPage } from './pages.ts'
import { createProvider } from './provider.ts'
import { currentSecrets, periodAt } from './secrets.ts'
import type { Secrets } from './secrets.ts'
import { filled, wordsIn } from './words.ts'

export interface AuthorizationPorts {
  readonly records: AuthorizationRecordStore
  readonly bindings: BindingStore
  readonly runtime: Pick<Runtime, 'nowMs' | 'entropy' | 'after'>
  /** Only tests replace it. */
  readonly fetch?: GuardedFetch
}

export interface AuthorizationOptions {
  /** The address of the gateway as people and assistants know it. */
  readonly baseUrl: string
  /** The URL that access tokens are made for. */
  readonly resource: string
  readonly registration: ClientRegistration
}

/** The parts of this server that the surface for assistants uses. */
export interface Assistants {
  readonly tokens: AccessTokens
  readonly bindings: Bindings
}

/** Makes these parts alone; they need no acceptance stage. */
export const assistantsOf = (
  ports: AuthorizationPorts,
  { baseUrl }: Pick<AuthorizationOptions, 'baseUrl'>,
): Assistants => ({
  tokens: storedTokens(ports),
  bindings: storedBindings(ports, (secret) => `${baseUrl}/oauth/session/${secret}`),
})

const REGISTRATIONS = { perAddress: 20, total: 400 }
const SECRET = /^[A-Za-z0-9_-]{43}$/
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

interface Current {
  readonly secrets: Secrets
  readonly provider: Provider
}

export class AuthorizationServer {
  readonly #ports: AuthorizationPorts
  readonly #options: AuthorizationOptions
  readonly #acceptance: Pick<Acceptance, 'callerCheck' | 'proof'>
  readonly #fetch: GuardedFetch
  readonly #registrations: ReturnType<typeof createBudget>
  readonly #hosts: readonly string[]
  #current: Promise<Current> | undefined
  #period = -1

  constructor(
    acceptance: Pick<Acceptance, 'callerCheck' | 'proof'>,
    ports: AuthorizationPorts,
    options: AuthorizationOptions,
  ) {
    this.#ports = ports
    this.#options = options
    this.#acceptance = acceptance
    this.#fetch = ports.fetch ?? guardedFetch({ timers: ports.runtime })
    this.#registrations = createBudget(REGISTRATIONS, ports.runtime.nowMs)
    this.#hosts = [new URL(options.baseUrl).hostname, ...LOOPBACK]
  }

  /** Answers a request. Rejects when the store does not answer. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const host = URL.parse(`http://${request.headers.host ?? ''}`)?.hostname ?? ''
    if (!this.#hosts.includes(host)) return refuse(response, 421, 'unknown_host') // server/1
    const { secrets, provider } = await this.#now()
    const url = new URL(request.url ?? '/', this.#options.baseUrl)
    const [, , page = '', name = ''] = url.pathname.split('/')
    const visit = (): Visit => this.#visit(secrets, request, response)
    if (url.pathname.startsWith('/oauth/')) {
      if (page === 'bind') return consentPage(visit(), this.#consentPorts(provider))
      if (page === 'session') return sessionPage(visit(), SECRET.test(name) ? hashOf(name) : '')
      if (page === 'assistants') return assistantsPage(visit())
    }
    if (page === 'register' && this.#isTooMuch(request)) {
      response.setHeader('retry-after', '60')
      return refuse(response, 429, 'too_many_requests')
    }
    const { host: ownHost, protocol } = new URL(this.#options.baseUrl)
    request.headers.host = ownHost // server/2
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
    if (page === 'authorize' && name === '') request.url = withScope(url)
    await provider.callback()(request, response)
  }

  /** server/3 */
  #isTooMuch({ socket }: IncomingMessage): boolean {
    return this.#registrations.take(socket.remoteAddress ?? 'unknown') !== undefined
  }

  #visit(secrets: Secrets, request: IncomingMessage, response: ServerResponse): Visit {
    const { bindings, runtime } = this.#ports
    const { baseUrl } = this.#options
    const { entropy } = runtime
    const forms = new Forms({ baseUrl, entropy, keys: () => secrets.cookies })
    const ports = { acceptance: this.#acceptance, bindings, forms, runtime }
    return new Visit(ports, request, response)
  }

  #consentPorts(provider: Provider): Parameters<typeof consentPage>[1] {
    return {
      provider,
      resource: this.#options.resource,
      nameGrant: (holder) => nameGrant(this.#ports, holder),
      revokeGrant: (grantId) => this.#ports.records.revokeGrant(grantId),
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
    const { records, runtime } = this.#ports
    const secrets = await currentSecrets(this.#ports)
    const provider = createProvider({ records, nowMs: runtime.nowMs }, secrets, {
      ...this.#options,
      fetch: this.#fetch,
      errorPage: (ctx, error) => {
        const locale = localeOf(ctx.get('accept-language'))
        const words = wordsIn(locale)
        ctx.set(pageHeaders())
        ctx.type = 'html'
        ctx.body =
          `<!doctype html><html lang="${locale}"><head><meta charset="utf-8">` +
          `<title>${escaped(words.errorTitle)}</title></head><body><main>` +
          `<h1>${escaped(words.errorTitle)}</h1>` +
          `<p>${escaped(filled(words.error, { code: error }))}</p></main></body></html>`
      },
    })
    return { secrets, provider }
  }
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
