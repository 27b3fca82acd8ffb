// The metadata of clients whose id is its address: fetched within a budget, and kept for clients
// that a person let in. (draft-ietf-oauth-client-id-metadata-document)
//
// Invariants:
//   client-metadata/1. What an address makes the gateway fetch is bounded, and so is it in all.
//   client-metadata/2. A client that a person let in goes on from what is stored while its address
//                      cannot be asked. What its address does answer holds.

import type { AuthorizationRecordStore } from '#domain/authorization-store'
import type { Runtime } from '#domain/runtime'
import { UNIT_MS } from '#domain/runtime'
import { createBudget } from '#src/acceptance/budget'
import { CLIENT_METADATA, GRANT_IDLE_MS, hashOf } from './adapter.ts'
import { asking } from './asking.ts'
import type { GuardedFetch } from '#src/outbound/guarded-fetch'

interface MetadataPorts {
  readonly records: Pick<AuthorizationRecordStore, 'find' | 'put'>
  readonly runtime: Pick<Runtime, 'nowMs'>
}

/** Addresses that are fetched in a minute. */
const FETCHES = { perAddress: 20, total: 400 }
const KEPT_BYTES_MAX = 8_192

/** The fetch for metadata of clients, within the budget of whoever makes the gateway fetch. */
export function metadataFetch(
  { records, runtime }: MetadataPorts,
  fetch: GuardedFetch,
): GuardedFetch {
  const budget = createBudget(FETCHES, runtime.nowMs)
  const fetched: GuardedFetch = async (url, init) => {
    const refusal = budget.take(asking().address) // client-metadata/1
    if (refusal !== undefined) throw new Error('too much was fetched')
    const response = await fetch(url, init)
    if (response.status >= 500 || response.status === 429) throw new Error('it does not answer')
    return response
  }
  return async (url, init) => {
    try {
      return await fetched(url, init)
    } catch (error) {
      const id = hashOf(String(url))
      const kept = await records.find(CLIENT_METADATA, id, runtime.nowMs())
      if (kept === undefined) throw error
      return new Response(kept.payload) // client-metadata/2
    }
  }
}

/** Keeps the metadata of a client that a person lets in; the grants of the client prolong it. */
export async function keepMetadata(
  { records, runtime }: MetadataPorts,
  clientId: string,
  metadata: object,
): Promise<void> {
  const payload = JSON.stringify(metadata)
  if (Buffer.byteLength(payload) > KEPT_BYTES_MAX) return
  await records.put({
    model: CLIENT_METADATA,
    idHash: hashOf(clientId),
    grantId: '',
    uid: '',
    payload,
    consumedAt: 0,
    expiresAt: runtime.nowMs() + GRANT_IDLE_MS + UNIT_MS.d,
  })
}
