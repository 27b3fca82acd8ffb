// Goal: the official client gets in by itself, with a person who allows it at a browser.

import { StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import type { Client } from '@modelcontextprotocol/client'
import test from 'ava'
import type { ExecutionContext } from 'ava'

import { authorizationStyle } from '#src/authorization/rows'
import type { GuardedFetch } from '#src/outbound/guarded-fetch'
import { assistantsOf } from '#src/authorization/server'
import { mcpStyle } from '#src/mcp/rows'
import { BASE, Browser, REDIRECT, RESOURCE } from '#test/support/authorization-rig'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { CHANNEL, NOW_MS, PASSWORD } from '#test/support/making'
import { textOf } from '#test/support/mcp-rig'
import { Person, connectOfficial } from '#test/support/oauth-person'
import { realRuntime } from '#test/support/real-runtime'
import { openTestStore } from '#test/support/sqlite-store'
import { startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'

interface OAuthRig extends Omit<Rig, 'connect'> {
  /** The client of a person, connected; the person is asked when it must be. */
  readonly connect: (person: Person, revision?: string) => Promise<Client>
  readonly person: (clientMetadataUrl?: string) => Person
  /** Hands the client what the person's page sent back. */
  readonly finish: (person: Person) => Promise<void>
  readonly logger: FakeLogger
}

const DOCUMENT = 'https://assistant.example/client.json'

/** Answers for the one document that a client's id can name here. */
const documents: GuardedFetch = async (url) =>
  url === DOCUMENT
    ? Response.json({
        client_id: DOCUMENT,
        client_name: 'A documented client',
        redirect_uris: [REDIRECT],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      })
    : new Response('', { status: 404 })

async function startBoth(t: ExecutionContext): Promise<OAuthRig> {
  const store = await openTestStore(t)
  const time = new FakeTime(NOW_MS)
  const runtime = { nowMs: time.nowMs, after: time.after, entropy: realRuntime.entropy }
  const logger = new FakeLogger()
  const meter = new FakeMeter()
  const { authorization: records, bindings: kept } = store
  const ports = { records, bindings: kept, runtime, fetch: documents }
  const { tokens, bindings } = assistantsOf(ports, { baseUrl: BASE })
  const options = { baseUrl: BASE, version: '9.9.9', statusRetentionMs: 86_400_000 }
  const rig = await startIngress(t, {
    styles: [
      authorizationStyle(
        { ...ports, logger },
        { baseUrl: BASE, resource: RESOURCE, registration: { kind: 'open' }, pages: 'password' },
      ),
      mcpStyle({ tokens, bindings, logger, meter, nowMs: Date.now }, options),
    ],
  })
  const channel = await rig.channels.credentials(rig.channelId)
  if (channel === undefined) throw new Error('bad fixture')
  await store.channels.create({ ...channel, createdAt: NOW_MS })
  return {
    ...rig,
    logger,
    person: (clientMetadataUrl) => new Person(new Browser(rig.url), { clientMetadataUrl }),
    connect: (person, revision) => connected(t, rig, { person, revision }),
    finish: (person) => transportOf(rig, person).finishAuth(person.told),
  }
}

/** The client knows the gateway by its base URL; its requests go to the ingress of the test. */
function transportOf(
  { url: here }: Pick<Rig, 'url'>,
  person: Person,
): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(RESOURCE), {
    authProvider: person,
    fetch: (url, init) => fetch(String(url).replace(BASE, here), init),
  })
}

function connected(
  t: ExecutionContext,
  rig: Pick<Rig, 'url'>,
  { person, revision }: { readonly person: Person; readonly revision: string | undefined },
): Promise<Client> {
  return connectOfficial(t, {
    transport: () => transportOf(rig, person),
    told: async () => person.told,
    options: revision === undefined ? {} : { versionNegotiation: { mode: { pin: revision } } },
  })
}

const send = { name: 'message_send', arguments: { channel_id: CHANNEL, title: 'x' } }

for (const [way, url, revision] of [
  ['registration', undefined, undefined],
  ['a client-id metadata document', DOCUMENT, undefined],
  ['registration, newest revision,', undefined, '2026-07-28'],
] as const) {
  test(`by ${way} the official client is let in for the channel that a person binds`, async (t) => {
    const rig = await startBoth(t)
    const person = rig.person(url)
    const client = await rig.connect(person, revision)
    const [asked] = person.asked
    t.is(asked?.searchParams.get('scope'), 'mcp:tools')
    t.is(asked?.searchParams.get('resource'), RESOURCE)
    t.is(asked?.searchParams.get('code_challenge_method'), 'S256')
    if (url !== undefined) t.is(asked?.searchParams.get('client_id'), url)
    const { tools } = await client.listTools()
    t.is(tools.length, 29)
    const sent = await client.callTool(send)
    t.not(sent.isError, true, textOf(sent))
    t.is(rig.sink.accepted.length, 1)
    const { resources } = await client.listResources()
    t.is(resources[0]?.uri, `heliograph://channel/${CHANNEL}`)
    const seen = JSON.stringify([rig.logger.lines, person.asked, tools])
    for (const secret of [PASSWORD, person.kept?.access_token ?? '', person.kept?.refresh_token]) {
      t.false(seen.includes(secret ?? PASSWORD))
    }
  })
}

test('an access token that is refused is refreshed, without asking the person', async (t) => {
  const rig = await startBoth(t)
  const person = rig.person()
  const client = await rig.connect(person)
  const first = person.kept
  if (first === undefined) return t.fail()
  person.kept = { ...first, access_token: 'an expired token' }
  const sent = await client.callTool(send)
  t.not(sent.isError, true)
  t.is(person.asked.length, 1)
  t.not(person.kept.access_token, first.access_token)
  t.not(person.kept.refresh_token, first.refresh_token)
})

test('a tool beyond the scope makes the client ask the person for the other one', async (t) => {
  const rig = await startBoth(t)
  const person = rig.person()
  const client = await rig.connect(person)
  const start = { name: 'channel_bind_start' }
  await t.throwsAsync(client.callTool(start), { instanceOf: UnauthorizedError })
  const scope = person.asked[1]?.searchParams.get('scope') ?? ''
  t.deepEqual(scope.split(' ').toSorted(), ['mcp:channels:manage', 'mcp:tools'])
  await rig.finish(person)
  const started = await client.callTool(start)
  const { url = '', bind_session: session } = started.structuredContent as Record<string, string>
  const status = { name: 'channel_bind_status', arguments: { bind_session: session } }
  t.like((await client.callTool(status)).structuredContent, { state: 'pending' })
  await person.bind(url)
  const bound = (await client.callTool(status)).structuredContent
  t.deepEqual(bound, { state: 'bound', channel_id: CHANNEL })
  t.not((await client.callTool(send)).isError, true)
  await client.callTool({ name: 'channel_unbind', arguments: { channel_id: CHANNEL } })
  t.regex(textOf(await client.callTool(send)), /^channel_not_found: /)
})

test('a token that was revoked opens nothing, and the person is asked again', async (t) => {
  const rig = await startBoth(t)
  const person = rig.person()
  const client = await rig.connect(person)
  const token = person.kept?.access_token ?? ''
  const body = new URLSearchParams({ token, client_id: person.client?.client_id ?? '' })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const revoked = await rig.send('/oauth/revoke', {
    method: 'POST',
    headers,
    body: body.toString(),
  })
  t.is(revoked.status, 200)
  person.kept = { access_token: token, token_type: 'Bearer' }
  await t.throwsAsync(client.callTool(send), { instanceOf: UnauthorizedError })
  t.is(person.asked.length, 2)
  t.is(rig.sink.accepted.length, 0)
})
