// Tells the owner of a channel who got an entry of it. (Specification: Receipts)

import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { ReceiptQuery } from '#domain/push/receipts'
import { RECEIPTS } from '#src/schemas/people/receipt-routes'
import type { Asked, NamedReceipts } from '#src/schemas/people/receipt-routes'
import { readersOf } from '#src/schemas/shape'
import type { Caller } from '#src/acceptance/caller'
import type { Stage } from '#src/acceptance/stage'
import type { Statuses } from '#src/acceptance/status'
import { withIds } from './subscribers.ts'

const READ = readersOf(RECEIPTS)

type Sought = Pick<ReceiptQuery, 'entityId' | 'operation'>

export class Receipts {
  readonly #ports: Stage & { readonly statuses: Statuses }

  constructor(ports: Stage & { readonly statuses: Statuses }) {
    this.#ports = ports
  }

  /** send_status_not_found, or entity_not_found without an entry in the feed. */
  async list(fields: unknown, caller: Caller): Promise<Answer<NamedReceipts>> {
    const { access, read, providers } = this.#ports
    const ask = { fields, caller, read: READ.list, scope: 'read', isWhole: true } as const
    const opened = await access.open(ask)
    if (isFault(opened)) return opened
    const { channelId, request } = opened
    const sought = await this.#sought(request.asked, channelId, caller)
    if (isFault(sought)) return sought
    const found = await read.receipts({ channelId, providers, ...sought })
    if (found === undefined) return fault('entity_not_found')
    return { entry: found.entry, subscribers: withIds(channelId, found.subscribers) }
  }

  /** An operation of another channel is unknown. */
  async #sought(asked: Asked, channelId: ChannelId, caller: Caller): Promise<Answer<Sought>> {
    if (asked.kind === 'entity') return { entityId: asked.entityId }
    const operation = await this.#ports.statuses.find(asked.opId, caller)
    if (isFault(operation)) return operation
    const { opId, acceptedAt, entityId } = operation
    if (operation.channelId !== channelId) return fault('send_status_not_found')
    return { entityId, operation: { opId, acceptedAt } }
  }
}
