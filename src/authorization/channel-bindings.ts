// The grant behind an access token, and the channels that a grant has.

import { ASSISTANT_SCOPES } from '#domain/assistants'
import type { AccessTokens, AssistantScope, Bindings } from '#domain/assistants'
import type {
  AuthorizationRecordStore,
  BindingStore,
  GrantHolder,
} from '#domain/authorization-store'
import type { Runtime } from '#domain/runtime'
import { isRecord } from '#domain/record'
import { GRANT_IDLE_MS, GRANT_NAME, hashOf } from './adapter.ts'

/** Ten minutes. (docs/decisions.md 15) */
const SESSION_MS = 600_000
const SECRET_BYTES = 32
const NAME_BYTES = 16

export interface GrantPorts {
  readonly records: AuthorizationRecordStore
  readonly bindings: BindingStore
  readonly runtime: Pick<Runtime, 'nowMs' | 'entropy'>
}

/** Keeps the client of a grant for as long as the grant. */
export async function nameGrant(
  { records, runtime }: GrantPorts,
  { grantId, ...holder }: GrantHolder,
): Promise<void> {
  await records.put({
    model: GRANT_NAME,
    idHash: hashOf(grantId),
    grantId,
    uid: '',
    payload: JSON.stringify(holder),
    consumedAt: 0,
    expiresAt: runtime.nowMs() + GRANT_IDLE_MS,
  })
}

/** The client of a grant; undefined for a grant that is not in force. */
async function holderOf(
  { records, runtime }: GrantPorts,
  grantId: string,
): Promise<GrantHolder | undefined> {
  const found = await records.find(GRANT_NAME, hashOf(grantId), runtime.nowMs())
  const payload: unknown = found && JSON.parse(found.payload)
  if (!isRecord(payload)) return undefined
  const { clientName, client, browser } = payload
  return {
    grantId,
    clientName: String(clientName),
    client: String(client),
    browser: String(browser),
  }
}

/** Verifies access tokens by the records in the store. */
export const storedTokens = (ports: GrantPorts): AccessTokens => ({
  verify: async (token, resource) => {
    const { records, runtime } = ports
    const found = await records.find('AccessToken', hashOf(token), runtime.nowMs())
    const payload: unknown = found && JSON.parse(found.payload)
    if (!isRecord(payload) || payload['aud'] !== resource) return undefined
    const { grantId, clientId, exp, scope } = payload
    if (typeof grantId !== 'string' || typeof clientId !== 'string') return undefined
    const holder = await holderOf(ports, grantId)
    if (holder === undefined) return undefined
    const { clientName } = holder
    const scopes = new Set(scopesIn(scope))
    return { grantId, clientId, clientName, scopes, expiresAtMs: Number(exp) * 1_000 }
  },
})

/** The scopes that a text names. */
export function scopesIn(scope: unknown): readonly AssistantScope[] {
  const asked = typeof scope === 'string' ? scope.split(' ') : []
  return ASSISTANT_SCOPES.filter((known) => asked.includes(known))
}

/** The channels of grants; `pageUrl` gives the address of a bind session's page. */
export const storedBindings = (
  ports: GrantPorts,
  pageUrl: (secret: string) => string,
): Bindings => ({
  ofGrant: (grantId) => ports.bindings.ofGrant(grantId),
  unbind: (grantId, channelId) => ports.bindings.unbind(grantId, channelId),
  start: async (grantId) => {
    const { bindings, runtime } = ports
    const holder = await holderOf(ports, grantId)
    if (holder === undefined) throw new Error('a grant ended while its tool was called')
    const secret = runtime.entropy(SECRET_BYTES).toString('base64url')
    const bindSession = runtime.entropy(NAME_BYTES).toString('hex')
    const expiresAt = runtime.nowMs() + SESSION_MS
    const secretHash = hashOf(secret)
    await bindings.startSession({ ...holder, bindSession, secretHash, expiresAt })
    return { bindSession, url: pageUrl(secret), expiresAtMs: expiresAt }
  },
  state: async (grantId, bindSession) => {
    const outcome = await ports.bindings.outcome(grantId, bindSession)
    if (outcome === undefined) return { kind: 'unknown' }
    const { channelId, expiresAt } = outcome
    if (channelId !== undefined) return { kind: 'bound', channelId }
    return { kind: expiresAt > ports.runtime.nowMs() ? 'pending' : 'expired' }
  },
})
