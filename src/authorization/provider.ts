// The authorization server: OAuth for assistants by a library, with the settings of this gateway.
// (Specification: MCP; docs/decisions.md 15)
//
// Invariants:
//   provider/1. PKCE with S256 always; codes and refresh tokens are used once, and a second use
//               ends their grant.
//   provider/2. A token is for this gateway's surface for assistants alone.
//   provider/3. Only a person on the page that binds a channel makes a grant.
//   provider/4. The secret of a client is stored as a hash, and compared in constant time.
//   provider/5. No parameter of a request for a grant is longer than its bound.
//   provider/6. A request that is over holds nothing of its exchange. The library defines a getter
//               on each context; V8 keeps it until a full collection, with all that it leads to.

import { Provider, errors, interactionPolicy } from 'oidc-provider'
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider'

import { ASSISTANT_SCOPES } from '#domain/assistants'
import type { ClientRegistration } from '#domain/assistants'
import type { Runtime } from '#domain/runtime'
import { adapterFactory, hashOf } from './adapter.ts'
import type { AdapterPorts } from './adapter.ts'
import { cookieNames } from './cookies.ts'
import { isEqual } from './forms.ts'
import type { GuardedFetch } from '#src/outbound/guarded-fetch'
import type { Secrets } from './secrets.ts'

interface ProviderOptions {
  /** The address of the gateway as people and assistants know it. */
  readonly baseUrl: string
  /** The URL that tokens are made for. */
  readonly resource: string
  readonly registration: ClientRegistration
  readonly fetch: GuardedFetch
  /** Makes the page of a request that cannot go back to its client. */
  readonly errorPage: (ctx: KoaContextWithOIDC, error: string) => void
  /** Called with an error that is none of the request's. */
  readonly failed: (error: unknown) => void
  /** Called with a grant that its client gave up, or that ends because a code was used twice. */
  readonly revoked: (grantId: string, by: 'client' | 'reuse') => void
}

const ACCESS_TOKEN_S = 15 * 60
const REFRESH_TOKEN_S = 30 * 86_400
const CODE_S = 60
const INTERACTION_S = 10 * 60
/** A browser in which a person allowed something is known for as long. */
const BROWSER_S = 30 * 86_400
/** A year: after it the assistant must ask the person again. */
const GRANT_S = 365 * 86_400

/** Makes the server with these secrets; its records are in the store. */
export function createProvider(
  { after, ...ports }: AdapterPorts & Pick<Runtime, 'after'>,
  secrets: Secrets,
  options: ProviderOptions,
): Provider {
  const provider = new Provider(options.baseUrl, {
    ...configuration(options),
    adapter: adapterFactory(ports),
    jwks: { keys: [...secrets.keys] },
    cookies: cookies(secrets, options.baseUrl),
  })
  provider.proxy = true
  provider.use(emptiedAfterwards(after))
  provider.on('server_error', (_ctx, error) => options.failed(error))
  provider.on('grant.revoked', ({ oidc }, grantId) =>
    options.revoked(grantId, oidc.route === 'revocation' ? 'client' : 'reuse'),
  )
  provider.Client.prototype.compareClientSecret = hasSecret // provider/4
  return provider
}

/** Empties the context of a request once its answer is through, or its caller gone. (provider/6) */
const emptiedAfterwards =
  (after: Runtime['after']): Parameters<Provider['use']>[0] =>
  async (ctx, next) => {
    try {
      await next()
    } finally {
      // Koa writes the answer, or that of an error, after this.
      const end = (): unknown => after(0, () => [ctx.oidc, ctx].forEach(empty))
      if (ctx.res.closed) end()
      else ctx.res.once('close', end)
    }
  }

function empty(held: object | undefined): void {
  if (held === undefined) return
  for (const name of Reflect.ownKeys(held)) Reflect.set(held, name, undefined)
}

function hasSecret(this: InstanceType<Provider['Client']>, sent: string): boolean {
  return isEqual(this.clientSecret ?? '', hashOf(sent))
}

const configuration = (options: ProviderOptions): Configuration => ({
  scopes: [...ASSISTANT_SCOPES],
  responseTypes: ['code'],
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
  clientDefaults: {
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    id_token_signed_response_alg: 'ES256',
  },
  // Clients register the scope that they begin with and keep to it for ever; the person says at
  // each grant what a client may do. The library asks for each of these members, sent or not.
  extraClientMetadata: {
    properties: ['software_id'],
    validator: (_ctx, _name, _value, metadata) => {
      metadata.scope = ASSISTANT_SCOPES.join(' ')
    },
  },
  extraParams: bounds(), // provider/5
  pkce: { required: () => true }, // provider/1
  rotateRefreshToken: true, // provider/1
  expiresWithSession: () => false,
  issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  // The grant of the page that was just answered, never an earlier one of the browser. (provider/3)
  loadExistingGrant: (ctx) => {
    const grantId = ctx.oidc.result?.consent?.grantId
    return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId)
  },
  interactions: {
    policy: policy(),
    url: (_ctx, { uid }) => `/oauth/bind/${uid}`,
  },
  ttl: {
    AccessToken: ACCESS_TOKEN_S,
    AuthorizationCode: CODE_S,
    RefreshToken: REFRESH_TOKEN_S,
    Interaction: INTERACTION_S,
    Session: (_ctx, { accountId }) => (accountId === undefined ? INTERACTION_S : BROWSER_S),
    Grant: GRANT_S,
  },
  routes: {
    authorization: '/oauth/authorize',
    token: '/oauth/token',
    registration: '/oauth/register',
    revocation: '/oauth/revoke',
    jwks: '/oauth/jwks',
  },
  clientBasedCORS: () => false,
  fetch: (url, init) => options.fetch(url instanceof Request ? url.url : url, init),
  renderError: (ctx, out) => options.errorPage(ctx, out.error),
  features: features(options),
})

const features = ({
  resource,
  registration,
}: ProviderOptions): NonNullable<Configuration['features']> => ({
  devInteractions: { enabled: false },
  userinfo: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  dPoP: { enabled: false },
  revocation: {
    enabled: true,
    allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
  },
  registration: {
    enabled: registration.kind !== 'off',
    initialAccessToken: registration.kind === 'with-token' ? registration.token : false,
    issueRegistrationAccessToken: false,
  },
  clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
  // provider/2
  resourceIndicators: {
    enabled: true,
    defaultResource: () => resource,
    useGrantedResource: () => true,
    getResourceServerInfo: (_ctx, indicator) => {
      if (indicator !== resource) throw new errors.InvalidTarget()
      return {
        scope: ASSISTANT_SCOPES.join(' '),
        audience: resource,
        accessTokenTTL: ACCESS_TOKEN_S,
        accessTokenFormat: 'opaque',
      }
    },
  },
})

/** Bytes of the parameters whose length a client chooses. */
const BYTES_MAX = {
  state: 2_048,
  redirect_uri: 1_024,
  client_id: 512,
  resource: 512,
  scope: 256,
  login_hint: 256,
}

/** The library tells the client which parameter it refuses. */
const bounds = (): NonNullable<Configuration['extraParams']> =>
  Object.fromEntries(
    Object.entries(BYTES_MAX).map(([name, bytesMax]) => [
      name,
      (_ctx: unknown, value: unknown) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value ?? '')
        if (Buffer.byteLength(text) > bytesMax) {
          throw new errors.InvalidRequest(`${name} has more than ${bytesMax} bytes`)
        }
      },
    ]),
  )

/** Asks for the page at each request, whatever the person granted before. (provider/3) */
function policy(): interactionPolicy.DefaultPolicy {
  const { Check, Prompt, base } = interactionPolicy
  const prompts = base()
  prompts.clear()
  const isAsked = new Check('bind_required', 'a person binds a channel', (ctx) =>
    ctx.oidc.result?.consent?.grantId === undefined
      ? Check.REQUEST_PROMPT
      : Check.NO_NEED_TO_PROMPT,
  )
  prompts.add(new Prompt({ name: 'consent', requestable: true }, isAsked))
  return prompts
}

function cookies({ cookies: keys }: Secrets, baseUrl: string): Configuration['cookies'] {
  const { isSecure: secure, session, interaction, resume } = cookieNames(baseUrl)
  const cookie = { httpOnly: true, sameSite: 'lax', secure, signed: true } as const
  return {
    keys: [...keys],
    names: { session, interaction, resume },
    short: cookie,
    long: cookie,
  }
}
