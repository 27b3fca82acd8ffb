// The storage of the authorization server's library, over the store of the gateway.
//
// Invariants:
//   adapter/1. The store gets hashes of codes and tokens: neither a record nor its key holds one.
//   adapter/2. A code or a refresh token serves once, on all nodes together: a second use is
//              refused and ends its grant.

import { hash } from 'node:crypto'

import { errors } from 'oidc-provider'
import type { Adapter, AdapterPayload } from 'oidc-provider'

import type { AuthorizationRecordStore, FoundRecord } from '#domain/authorization-store'
import type { NowMs } from '#domain/ports'

export interface AdapterPorts {
  readonly records: AuthorizationRecordStore
  readonly nowMs: NowMs
}

const DAY_MS = 86_400_000
/** A client stays for a day, one with grants until a day after their end. */
const CLIENT_MS = DAY_MS
/** The time after which a grant without a valid refresh token is removed. */
export const GRANT_IDLE_MS = 31 * DAY_MS

/** The kind of record that names the client of a grant, for people. */
export const GRANT_NAME = 'GrantName'

export const hashOf = (text: string): string => hash('sha256', text, 'hex')

/** Makes the storage for one kind of record. */
export const adapterFactory =
  (ports: AdapterPorts) =>
  (model: string): Adapter =>
    new StoredModel(model, ports)

class StoredModel implements Adapter {
  readonly #model: string
  readonly #ports: AdapterPorts

  constructor(model: string, ports: AdapterPorts) {
    this.#model = model
    this.#ports = ports
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<undefined> {
    const { records, nowMs } = this.#ports
    const { jti: _jti, ...kept } = sealed(payload) // adapter/1
    await records.put({
      model: this.#model,
      idHash: hashOf(id),
      grantId: this.#model === 'Grant' ? id : (payload.grantId ?? ''),
      uid: payload.uid ?? '',
      payload: JSON.stringify(kept),
      consumedAt: 0,
      expiresAt: nowMs() + this.#lifeMs(expiresIn),
    })
    await this.#prolongs(payload)
    return undefined
  }

  #lifeMs(expiresIn: number | undefined): number {
    if (this.#model === 'Grant') return GRANT_IDLE_MS
    return expiresIn === undefined ? CLIENT_MS : expiresIn * 1_000
  }

  /** A refresh token prolongs its grant, and a grant its client. */
  async #prolongs({ grantId, clientId }: AdapterPayload): Promise<void> {
    const { records, nowMs } = this.#ports
    const until = nowMs() + GRANT_IDLE_MS
    if (this.#model !== 'RefreshToken' && this.#model !== 'Grant') return
    if (grantId !== undefined) {
      await records.prolong('Grant', hashOf(grantId), until)
      await records.prolong(GRANT_NAME, hashOf(grantId), until)
    }
    if (clientId !== undefined) await records.prolong('Client', hashOf(clientId), until + DAY_MS)
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const { records, nowMs } = this.#ports
    const payload = payloadOf(await records.find(this.#model, hashOf(id), nowMs()))
    return payload && { ...payload, ...(this.#model !== 'Client' && { jti: id }) }
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const { records, nowMs } = this.#ports
    return payloadOf(await records.findByUid(this.#model, uid, nowMs()))
  }

  /** No flow of ours has user codes. */
  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  async consume(id: string): Promise<undefined> {
    const { records, nowMs } = this.#ports
    if (await records.consume(this.#model, hashOf(id), nowMs())) return undefined
    const used = payloadOf(await records.find(this.#model, hashOf(id), nowMs()))
    if (used?.grantId !== undefined) await records.revokeGrant(used.grantId) // adapter/2
    throw new errors.InvalidGrant('it was used before')
  }

  async destroy(id: string): Promise<undefined> {
    await this.#ports.records.remove(this.#model, hashOf(id))
    return undefined
  }

  async revokeByGrantId(grantId: string): Promise<undefined> {
    await this.#ports.records.revokeGrant(grantId)
    return undefined
  }
}

/** A client's secret is compared by its hash too. (provider/4) */
const sealed = (payload: AdapterPayload): AdapterPayload =>
  payload.client_secret === undefined
    ? payload
    : { ...payload, client_secret: hashOf(payload.client_secret) }

function payloadOf(found: FoundRecord | undefined): AdapterPayload | undefined {
  if (found === undefined) return undefined
  const payload = JSON.parse(found.payload) as AdapterPayload
  const consumed = found.consumedAt > 0 && { consumed: Math.floor(found.consumedAt / 1_000) }
  return { ...payload, ...consumed }
}
