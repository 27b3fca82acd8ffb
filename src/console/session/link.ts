// The page's side of the session: a copy of the worker's Things, changed once a frame.
//
// Invariants:
//   session-link/1. The Things equal those of the worker after each piece of news: it has every
//     Thing that differs, whole.

import type { NextFrame } from '#src/client/folded-changes'
import type { ThingChanged } from '#src/client/replica'
import type { ThingView } from '#src/client/view'
import type {
  Happening,
  Secrets,
  SessionDevice,
  SessionEnd,
  SessionOrder,
  SessionReport,
  SessionState,
  ThingNews,
} from './messages.ts'

/** The part of a worker that the link uses. */
export interface SessionPort {
  postMessage(order: SessionOrder): void
  addEventListener(name: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(name: 'error', listener: () => void): void
  terminate(): void
}

export interface LinkOptions {
  readonly device: SessionDevice
  readonly secrets: Secrets
  readonly nextFrame: NextFrame
  readonly onState: (state: SessionState) => void
  /** Called in a frame with the Things of a channel that differ from the frame before. */
  readonly onThings: (channelId: string, changes: readonly ThingChanged[]) => void
  readonly onHappening: (happening: Happening) => void
}

const NONE: ReadonlyMap<string, ThingView> = new Map()

export class SessionLink {
  /** Resolves when the session is over; never rejects. */
  readonly ended: Promise<SessionEnd>
  readonly #port: SessionPort
  readonly #options: LinkOptions
  readonly #things = new Map<string, Map<string, ThingView>>()
  #end: (end: SessionEnd) => void

  constructor(port: SessionPort, options: LinkOptions) {
    const { promise, resolve } = Promise.withResolvers<SessionEnd>()
    this.#port = port
    this.#options = options
    this.#end = resolve
    this.ended = promise.finally(() => port.terminate())
    port.addEventListener('message', ({ data }) => this.#take(data as SessionReport))
    // Its script cannot be loaded, or it has a defect: the page begins anew.
    port.addEventListener('error', () => resolve({ kind: 'failed' }))
    port.postMessage({ kind: 'open', device: options.device, secrets: options.secrets })
  }

  /** The Things of a channel by id; the same map as long as the session has the channel. */
  things(channelId: string): ReadonlyMap<string, ThingView> {
    return this.#things.get(channelId) ?? NONE
  }

  keepSecrets(secrets: Secrets): void {
    this.#port.postMessage({ kind: 'secrets', secrets })
  }

  /** Connects at once, for a page that knows that the network is back. */
  wake(): void {
    this.#port.postMessage({ kind: 'wake' })
  }

  /** Ends the session once its running handler has ended and its entry is acknowledged. */
  async close(): Promise<void> {
    this.#port.postMessage({ kind: 'close' })
    await this.ended
  }

  #take(report: SessionReport): void {
    if (report.kind === 'state') this.#options.onState(report.state)
    else if (report.kind === 'ended') this.#end(report.end)
    else this.#options.nextFrame(() => this.#draw(report.things, report.happenings))
  }

  #draw(things: readonly ThingNews[], happenings: readonly Happening[]): void {
    const { onThings, onHappening } = this.#options
    for (const news of things) onThings(news.channelId, this.#apply(news))
    for (const happening of happenings) onHappening(happening)
    this.#port.postMessage({ kind: 'drawn' })
  }

  /** session-link/1 */
  #apply({ channelId, changed, gone }: ThingNews): readonly ThingChanged[] {
    const known = this.#things.get(channelId) ?? new Map<string, ThingView>()
    this.#things.set(channelId, known)
    const changes: ThingChanged[] = []
    for (const after of changed) {
      changes.push({ channelId, id: after.id, before: known.get(after.id), after })
      known.set(after.id, after)
    }
    for (const id of gone) {
      changes.push({ channelId, id, before: known.get(id), after: undefined })
      known.delete(id)
    }
    return changes
  }
}
