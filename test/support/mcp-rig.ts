// The surface for assistants on an ingress, and the official client in front of it.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { ExecutionContext } from 'ava'

import { ASSISTANT_SCOPES } from '#domain/assistants'
import type { AssistantScope, Grant } from '#domain/assistants'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { Style } from '#src/ingress/ingress'
import type { Row } from '#src/ingress/row'
import type { McpOptions, McpPorts } from '#src/mcp/rows'
import { mcpStyle } from '#src/mcp/rows'
import { FakeAccessTokens, FakeBindings } from '#test/support/fake-assistants'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { startIngress } from '#test/support/start-ingress'
import type { Answered, Rig, RigOptions } from '#test/support/start-ingress'

export const BASE_URL = 'http://127.0.0.1:8080'
export const RESOURCE = `${BASE_URL}/mcp`
/** A grant with every scope and the rig's channel has this token. */
export const TOKEN = 'an-access-token'

/** The message that asks for the tools. */
export const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

/** The message that calls a tool. */
export const callOf = (name: string, fields: object = {}): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: fields },
})

/** The code of the fault in an answer. */
export const refusalOf = ({ text }: Answered): string | undefined =>
  /"error_code":"(\w+)"/.exec(text)?.[1]

export interface McpRig extends Rig {
  readonly tokens: FakeAccessTokens
  readonly bindings: FakeBindings
  readonly logger: FakeLogger
  readonly meter: FakeMeter
  readonly grant: Grant
  /** Makes another token, of a grant without channels. */
  readonly issue: (token: string, scopes: readonly AssistantScope[]) => Grant
  /** One JSON-RPC message without the client. */
  readonly rpc: (message: unknown, headers?: Record<string, string>) => Promise<Answered>
  /** The same for any text. */
  readonly rpcText: (body: string) => Promise<Answered>
  /** The official client, connected; it speaks the revision, or the newest one before 2026. */
  readonly client: (token?: string, revision?: string) => Promise<Client>
}

export interface McpRigOptions {
  readonly baseUrl?: string
  /** Makes the rows of another surface. */
  readonly rows?: (acceptance: Acceptance, ports: McpPorts, options: McpOptions) => readonly Row[]
}

const ownRows: NonNullable<McpRigOptions['rows']> = (acceptance, ports, options) =>
  mcpStyle(ports, options)(acceptance)

export async function startMcp(
  t: ExecutionContext,
  options: RigOptions = {},
  { baseUrl = BASE_URL, rows = ownRows }: McpRigOptions = {},
): Promise<McpRig> {
  const tokens = new FakeAccessTokens()
  const bindings = new FakeBindings()
  const logger = new FakeLogger()
  const meter = options.meter ?? new FakeMeter()
  const ports = { tokens, bindings, logger, meter, nowMs: Date.now }
  const surface = { baseUrl, version: '9.9.9', statusRetentionMs: 7 * 86_400_000 }
  const style: Style = (acceptance) => rows(acceptance, ports, surface)
  const rig = await startIngress(t, { ...options, styles: [style] })
  const issue = (token: string, scopes: readonly AssistantScope[]): Grant =>
    tokens.issue(token, RESOURCE, scopes)
  const grant = issue(TOKEN, ASSISTANT_SCOPES)
  bindings.bind(grant.grantId, rig.channelId)
  const heads = { accept: ACCEPT, authorization: `Bearer ${TOKEN}` }
  return {
    ...rig,
    tokens,
    bindings,
    logger,
    meter,
    grant,
    issue,
    rpc: (message, headers = {}) => rig.post('/mcp', message, { ...heads, ...headers }),
    rpcText: (body) =>
      rig.send('/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...heads },
        body,
      }),
    client: (token = TOKEN, revision) => connected(t, rig.url, { token, revision }),
  }
}

const ACCEPT = 'application/json, text/event-stream'

async function connected(
  t: ExecutionContext,
  url: string,
  { token, revision }: { readonly token: string; readonly revision: string | undefined },
): Promise<Client> {
  const isModern = revision !== undefined && revision >= '2026'
  const client = new Client(
    { name: 'a-client', version: '1.0.0' },
    {
      ...(isModern && { versionNegotiation: { mode: { pin: revision } } }),
      ...(!isModern && revision !== undefined && { supportedProtocolVersions: [revision] }),
    },
  )
  t.teardown(() => client.close())
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  return client
}

/** The code of the fault that a tool answers with. */
export const codeOf = (answer: CallToolResult): string => textOf(answer).split(':')[0] ?? ''

/** The text of a tool's answer. */
export const textOf = ({ content }: CallToolResult): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
