// An authorization server on a real ingress and a real store, and a client and a person with a
// browser who talk to it.

import { createHash, randomBytes } from 'node:crypto'

import type { ExecutionContext } from 'ava'

import type { AccessTokens, AssistantPages, Bindings, ClientRegistration } from '#domain/assistants'
import type { NewChannel } from '#domain/channel'
import { authorizationStyle } from '#src/authorization/rows'
import type { GuardedFetch } from '#src/outbound/guarded-fetch'
import { assistantsOf } from '#src/authorization/server'
import type { Store } from '#src/store/store'
import { FakeLogger } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { CHANNEL, NOW_MS, PASSWORD } from '#test/support/making'
import { realRuntime } from '#test/support/real-runtime'
import { openTestStore } from '#test/support/sqlite-store'
import { startIngress } from '#test/support/start-ingress'
import type { Rig, RigOptions } from '#test/support/start-ingress'
import { rounds } from '#test/support/until'

export const BASE = 'http://localhost:8080'
export const RESOURCE = `${BASE}/mcp`
export const REDIRECT = 'http://127.0.0.1:4711/callback'

export interface AuthorizationRig extends Rig {
  readonly store: Store
  readonly tokens: AccessTokens
  readonly bindings: Bindings
  /** The log of the authorization server. */
  readonly log: FakeLogger
}

export interface AuthorizationRigOptions extends RigOptions {
  readonly registration?: ClientRegistration
  readonly pages?: AssistantPages
  readonly baseUrl?: string
  readonly fetch?: GuardedFetch
  /** The store of another node. */
  readonly store?: Store
}

/** The channel CHANNEL with PASSWORD exists, for acceptance and in the store. */
export async function startAuthorization(
  t: ExecutionContext,
  {
    registration = { kind: 'open' },
    pages = 'password',
    baseUrl = BASE,
    fetch,
    store: shared,
    ...options
  }: AuthorizationRigOptions = {},
): Promise<AuthorizationRig> {
  const store = shared ?? (await openTestStore(t))
  const time = new FakeTime(NOW_MS)
  const runtime = { nowMs: time.nowMs, after: time.after, entropy: realRuntime.entropy }
  const { authorization: records, bindings } = store
  const ports = { records, bindings, runtime, ...(fetch && { fetch }) }
  const log = new FakeLogger()
  const style = authorizationStyle(
    { ...ports, logger: log },
    { baseUrl, resource: `${baseUrl}/mcp`, registration, pages },
  )
  const rig = await startIngress(t, { ...options, styles: [style] })
  const known = (shared?.channels ?? rig.channels).credentials(rig.channelId)
  const kept = { ...(await known), createdAt: NOW_MS }
  if (!isNewChannel(kept)) throw new Error('bad fixture')
  await (shared === undefined ? store : rig).channels.create(kept)
  return { ...rig, time, store, log, ...assistantsOf(ports, { baseUrl }) }
}

const isNewChannel = (channel: Partial<NewChannel>): channel is NewChannel =>
  channel.passwordHash !== undefined

/** A page or an answer, as a browser has it. */
export interface Seen {
  readonly status: number
  readonly location: string
  readonly html: string
  readonly headers: Headers
  /** The address without the host. */
  readonly path: string
}

/** A person's browser: cookies, forms, and redirects one by one. */
export class Browser {
  readonly cookies = new Map<string, string>()
  readonly #url: string
  readonly #headers: Record<string, string>
  readonly #base: string

  /** `base`: the address by which the server knows itself. */
  constructor(url: string, headers: Record<string, string> = {}, base = BASE) {
    this.#url = url
    this.#headers = headers
    this.#base = base
  }

  /** Opens a path, or an address that the server wrote. */
  async open(address: string, init: RequestInit = {}): Promise<Seen> {
    const path = address.replace(this.#base, '')
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(this.#url + path, {
      redirect: 'manual',
      ...init,
      headers: { ...this.#headers, cookie, ...Object.fromEntries(new Headers(init.headers)) },
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    const location = response.headers.get('location') ?? ''
    const { status, headers } = response
    return { status, headers, location, html: await response.text(), path }
  }

  /** Sends the form of a page. */
  send(page: Seen, fields: Readonly<Record<string, string>>, headers = {}): Promise<Seen> {
    const token = /name="form_token" value="([^"]+)"/.exec(page.html)?.[1] ?? ''
    const body = new URLSearchParams({ form_token: token, ...fields }).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    return this.open(page.path, { method: 'POST', body, headers: { ...type, ...headers } })
  }

  /** Follows redirects within the server; gives the answer that leads elsewhere or is a page. */
  async follow(first: Seen): Promise<Seen> {
    let seen = first
    const goOn = rounds(20)
    while (
      goOn() &&
      seen.location !== '' &&
      (seen.location.startsWith(this.#base) || seen.location.startsWith('/'))
    ) {
      seen = await this.open(seen.location)
    }
    return seen
  }
}

export const ALLOWED = { channel_id: CHANNEL, password: PASSWORD, decision: 'allow' }

/** The ways to talk to a server. */
export type Talking = Pick<Rig, 'url' | 'post' | 'send'>

/** A client as the protocol has it. */
export class Client {
  readonly id: string
  readonly verifier = randomBytes(32).toString('base64url')
  readonly #rig: Talking

  constructor(rig: Talking, id: string) {
    this.#rig = rig
    this.id = id
  }

  static async register(rig: Talking, more: object = {}): Promise<Client> {
    const answer = await rig.post('/oauth/register', {
      client_name: 'An assistant',
      redirect_uris: [REDIRECT],
      ...more,
    })
    if (answer.status !== 201) throw new Error(`refused: ${answer.status} ${answer.text}`)
    return new Client(rig, String(answer.json['client_id']))
  }

  authorizePath(more: Readonly<Record<string, string>> = {}): string {
    const parameters = new URLSearchParams({
      client_id: this.id,
      response_type: 'code',
      redirect_uri: REDIRECT,
      scope: 'mcp:tools',
      state: 'state-1',
      resource: RESOURCE,
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...more,
    })
    return `/oauth/authorize?${parameters.toString()}`
  }

  /** The page on which the person is asked. */
  async ask(browser: Browser, more: Readonly<Record<string, string>> = {}): Promise<Seen> {
    return browser.follow(await browser.open(this.authorizePath(more)))
  }

  /** The parameters that the client is sent in the end, when the person allows. */
  async allowed(
    more: Readonly<Record<string, string>> = {},
    browser = new Browser(this.#rig.url),
  ): Promise<URLSearchParams> {
    const page = await this.ask(browser, more)
    const end = await browser.follow(await browser.send(page, ALLOWED))
    return new URL(end.location).searchParams
  }

  token(fields: Readonly<Record<string, string>>, more = {}): ReturnType<Rig['send']> {
    const body = new URLSearchParams({ client_id: this.id, ...fields }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...more }
    return this.#rig.send('/oauth/token', { method: 'POST', body, headers })
  }

  redeem(
    code: string,
    more: Readonly<Record<string, string>> = {},
    headers = {},
  ): ReturnType<Rig['send']> {
    const redirect_uri = REDIRECT
    const code_verifier = this.verifier
    const fields = { grant_type: 'authorization_code', code, redirect_uri, code_verifier }
    return this.token({ ...fields, resource: RESOURCE, ...more }, headers)
  }

  /** Redeems a code as a client with a secret does, which shows it by this method. */
  redeemWith(method: string, secret: string, code: string): ReturnType<Rig['send']> {
    if (method === 'client_secret_post') return this.redeem(code, { client_secret: secret })
    const authorization = `Basic ${Buffer.from(`${this.id}:${secret}`).toString('base64')}`
    return this.redeem(code, {}, { authorization })
  }

  refresh(token: string): ReturnType<Rig['send']> {
    return this.token({ grant_type: 'refresh_token', refresh_token: token, resource: RESOURCE })
  }
}
