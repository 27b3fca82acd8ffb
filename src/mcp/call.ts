// The caller of a request to the surface, and the channels that it may use.

import type { Bindings, Grant } from '#domain/assistants'
import { withGrant } from '#src/acceptance/caller'
import type { Caller } from '#src/acceptance/caller'
import type { CallCredential } from '#src/schemas/document/tool-schemas'

/** An assistant as its token shows it. */
export type Assistant =
  /** Legacy mode: it proved the gateway token, and each tool call brings a channel password. */
  { readonly kind: 'password' } | { readonly kind: 'grant'; readonly grant: Grant }

/** One request of an assistant. */
export class Call {
  readonly assistant: Assistant
  readonly #asking: Caller
  readonly #bindings: Pick<Bindings, 'ofGrant'>

  constructor(assistant: Assistant, asking: Caller, bindings: Pick<Bindings, 'ofGrant'>) {
    this.assistant = assistant
    this.#asking = asking
    this.#bindings = bindings
  }

  /** The origin of the request, for log lines. */
  get origin(): Caller['origin'] {
    return this.#asking.origin
  }

  /** When the request had arrived, in Unix milliseconds. */
  get receivedAtMs(): number {
    return this.#asking.receivedAtMs
  }

  get opening(): CallCredential {
    return this.assistant.kind
  }

  /**
   * The caller as the acceptance stage takes it, with the channels that are bound at this moment:
   * one that a person unbound, or whose password changed, is not among them any more.
   */
  async caller(): Promise<Caller> {
    const { assistant } = this
    if (assistant.kind === 'password') return this.#asking
    const bound = await this.#bindings.ofGrant(assistant.grant.grantId)
    return withGrant(this.#asking, {
      channels: new Set(bound.map(({ channelId }) => channelId)),
    })
  }
}
