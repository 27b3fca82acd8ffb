// The official client of an assistant, and a person at a browser who lets it in.

import { Client, UnauthorizedError } from '@modelcontextprotocol/client'
import type {
  ClientOptions,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import type { ExecutionContext } from 'ava'

import { ALLOWED, REDIRECT } from '#test/support/authorization-rig'
import type { Browser } from '#test/support/authorization-rig'

/** Keeps what a client keeps, and notes where it sends the person. */
export class KeptByClient implements OAuthClientProvider {
  readonly redirectUrl: string
  readonly clientMetadataUrl?: string
  readonly clientMetadata: OAuthClientMetadata
  kept: StoredOAuthTokens | undefined
  client: StoredOAuthClientInformation | undefined
  /** The addresses at which authorizations began. */
  readonly asked: URL[] = []
  #verifier = ''
  #discovered: OAuthDiscoveryState | undefined

  constructor(redirectUrl: string, clientMetadataUrl?: string) {
    this.redirectUrl = redirectUrl
    this.clientMetadata = {
      client_name: 'The official client',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.client
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.client = client
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.kept
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.kept = tokens
  }

  /** Forgets what the server refused. */
  invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (what === 'all' || what === 'client') this.client = undefined
    if (what === 'all' || what === 'tokens') this.kept = undefined
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  redirectToAuthorization(url: URL): void | Promise<void> {
    this.asked.push(url)
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered
  }
}

/** A client whose every question goes to the person, who allows it. */
export class Person extends KeptByClient {
  /** The parameters that the last authorization sent back to the client. */
  told = new URLSearchParams()
  readonly #browser: Browser
  readonly #answer: Readonly<Record<string, string>>

  /** The person allows, and binds the channel of `more` or CHANNEL. */
  constructor(
    browser: Browser,
    {
      clientMetadataUrl,
      ...more
    }: { readonly clientMetadataUrl?: string | undefined; readonly channel_id?: string } = {},
  ) {
    super(REDIRECT, clientMetadataUrl)
    this.#browser = browser
    this.#answer = { ...ALLOWED, ...more }
  }

  /** Opens the page, binds the channel, and comes back with what the client is told. */
  override async redirectToAuthorization(url: URL): Promise<void> {
    await super.redirectToAuthorization(url)
    const page = await this.#browser.follow(await this.#browser.open(url.href))
    const end = await this.#browser.follow(await this.#browser.send(page, this.#answer))
    if (end.location === '') throw new Error(`the page ${end.path} says ${end.status}: ${end.html}`)
    this.told = new URL(end.location).searchParams
  }

  /** Binds the channel on a page that a tool asked for. */
  async bind(url: string): Promise<void> {
    const page = await this.#browser.open(url)
    const end = await this.#browser.send(page, this.#answer)
    if (end.status !== 200) throw new Error(`the page ${end.path} says ${end.status}: ${end.html}`)
  }
}

export interface Connecting {
  /** Makes one more transport of the same client. */
  readonly transport: () => StreamableHTTPClientTransport
  /** The answer of the person's page, once the client has asked. */
  readonly told: () => Promise<URLSearchParams>
  readonly options?: ClientOptions
}

/** Connects the official client; where it must ask the person, it connects again after that. */
export async function connectOfficial(
  t: ExecutionContext,
  { transport: open, told, options = {} }: Connecting,
): Promise<Client> {
  const connect = async (transport: StreamableHTTPClientTransport): Promise<Client> => {
    const client = new Client({ name: 'the-official-client', version: '1' }, options)
    await client.connect(transport)
    t.teardown(() => client.close())
    return client
  }
  const transport = open()
  try {
    return await connect(transport)
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
    await transport.finishAuth(await told())
    return connect(open())
  }
}
