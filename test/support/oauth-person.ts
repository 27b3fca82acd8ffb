// A person at a browser, and the official client that acts for the assistant in front of it.

import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'

import { ALLOWED, REDIRECT } from '#test/support/authorization-rig'
import type { Browser } from '#test/support/authorization-rig'

/** Keeps what a client keeps; each question of the server goes to the person, who allows it. */
export class Person implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT
  readonly clientMetadataUrl?: string
  readonly clientMetadata: OAuthClientMetadata = {
    client_name: 'The official client',
    redirect_uris: [REDIRECT],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  kept: StoredOAuthTokens | undefined
  client: StoredOAuthClientInformation | undefined
  /** Where each authorization began. */
  readonly asked: URL[] = []
  /** What the last one sent back to the client. */
  told = new URLSearchParams()
  #verifier = ''
  #discovered: OAuthDiscoveryState | undefined
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
    this.#browser = browser
    this.#answer = { ...ALLOWED, ...more }
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

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  /** Opens the page, binds the channel, and comes back with what the client is told. */
  async redirectToAuthorization(url: URL): Promise<void> {
    this.asked.push(url)
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

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered
  }
}
