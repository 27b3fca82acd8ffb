// The storage of the authorization server's library, over the store of the gateway.
//
// Invariants:
//   adapter/1. The store gets hashes of codes, tokens and the ids of cookies: neither a record nor
//              its key holds one.
//   adapter/2. A code or a refresh token serves once, on all nodes together: a second use is
//              refused and ends its grant.
//   adapter/3. Records that a stranger can make are bounded: the bytes of each, and their number
//              while nobody has allowed anything. Beyond it the oldest give way.

import { hash } from 'node:crypto'

import { errors } from 'oidc-provider'
import type { Adapter, AdapterPayload } from 'oidc-provider'

import type { AuthorizationRecordStore, FoundRecord } from '#domain/authorization-store'
import type { NowMs } from '#domain/ports'
import { UNIT_MS } from '#domain/runtime'

export interface AdapterPorts {
  readonly records: AuthorizationRecordStore
  readonly nowMs: NowMs
  /** Called with a grant that ends because one of its codes or refresh tokens was used twice. */
  readonly reused: (grantId: string) => void
}

/** A client stays for a day, one with grants until a day after their end. */
const CLIENT_MS = UNIT_MS.d
/** The time after which a grant without a valid refresh token is removed. */
export const GRANT_IDLE_MS = 31 * UNIT_MS.d

/** The kind of record that names the client of a grant, for people. */
export const GRANT_NAME = 'GrantName'
/** The kind of record that has the metadata of a client whose id is its address. */
export const CLIENT_METADATA = 'ClientMetadata'

/** Unfinished authorizations, and registered clients without a grant. */
const STRANGERS_MAX = 10_000
/** Bytes of a client. */
const CLIENT_BYTES_MAX = 4_096
/** Bytes of an authorization as it begins; with the answer of the person it has 4,096 at most. */
const AUTHORIZATION_BYTES_MAX = 3_584

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
    const { jti: _jti, ...kept } = sealed(payload, id) // adapter/1
    const text = JSON.stringify(kept)
    const isBounded = this.#model === 'Interaction' || this.#model === 'Client'
    if (isBounded) this.#checkSize(text, payload) // adapter/3
    const record = {
      model: this.#model,
      idHash: hashOf(id),
      grantId: this.#model === 'Grant' ? id : (payload.grantId ?? ''),
      uid: payload.uid ?? '',
      payload: text,
      consumedAt: 0,
      expiresAt: nowMs() + this.#lifeMs(expiresIn),
    }
    await records.put(record, isBounded ? STRANGERS_MAX : undefined) // adapter/3
    await this.#prolongs(payload)
    return undefined
  }

  /** Throws the library's error for one that is too large, which tells the client. */
  #checkSize(text: string, payload: AdapterPayload): void {
    const bytes = Buffer.byteLength(text)
    if (this.#model === 'Client' && bytes > CLIENT_BYTES_MAX) {
      throw new errors.InvalidClientMetadata(`the metadata has more than ${CLIENT_BYTES_MAX} bytes`)
    }
    const isNew = this.#model === 'Interaction' && payload['result'] === undefined
    if (isNew && bytes > AUTHORIZATION_BYTES_MAX) {
      throw new errors.InvalidRequest(
        `all parameters together have more than ${AUTHORIZATION_BYTES_MAX} bytes`,
      )
    }
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
    if (clientId === undefined) return
    for (const model of ['Client', CLIENT_METADATA]) {
      await records.prolong(model, hashOf(clientId), until + UNIT_MS.d)
    }
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const { records, nowMs } = this.#ports
    const payload = payloadOf(await records.find(this.#model, hashOf(id), nowMs()))
    if (payload === undefined || this.#model === 'Client') return payload
    const returnTo = payload.returnTo
    return { ...payload, jti: id, ...(returnTo !== undefined && { returnTo: returnTo + id }) }
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
    if (used?.grantId !== undefined) {
      await records.revokeGrant(used.grantId) // adapter/2
      this.#ports.reused(used.grantId)
    }
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

/**
 * The payload without what opens anything: the secret of a client, which is compared by its hash
 * too (provider/4), and the ids of an authorization and of the browser's session.
 */
function sealed(payload: AdapterPayload, id: string): AdapterPayload {
  const { client_secret: secret, session, returnTo, ...rest } = payload
  return {
    ...rest,
    ...(secret !== undefined && { client_secret: hashOf(secret) }),
    ...(session !== undefined && { session: { ...session, cookie: '' } }),
    ...(returnTo !== undefined && { returnTo: returnTo.slice(0, -id.length) }),
  }
}

function payloadOf(found: FoundRecord | undefined): AdapterPayload | undefined {
  if (found === undefined) return undefined
  const payload = JSON.parse(found.payload) as AdapterPayload
  const consumed = found.consumedAt > 0 && { consumed: Math.floor(found.consumedAt / 1_000) }
  return { ...payload, ...consumed }
}
