// The worker's side of the session: reads and folds what the gateway sends, so that the page's own
// thread gets at most one piece of news a frame.
//
// Invariants:
//   session-host/1. One piece of news is under way: the next one leaves when the page has drawn it.
//     However many updates come meanwhile, it has each Thing once.
//   session-host/2. Happenings that wait for the page are bounded: beyond that the session handles
//     no entry, and the window of the gateway fills.

import { HeliographError } from '#src/client/error'
import { foldedChanges } from '#src/client/folded-changes'
import type { PositionStore } from '#src/client/position-store'
import type { Replica, ReplicaOptions, ThingChanged } from '#src/client/replica'
import type { WatchEnd, WatchState } from '#src/client/watch'
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

export interface HostPorts {
  readonly post: (report: SessionReport) => void
  readonly openReplica: (options: ReplicaOptions) => Replica
  readonly positions: (name: string) => PositionStore
}

const HAPPENINGS_MAX = 500

export class SessionHost {
  readonly #ports: HostPorts
  #replica: Replica | undefined
  #secrets: Secrets = new Map()
  #happenings: Happening[] = []
  #things: readonly ThingNews[] = []
  /** Tells the news that wait, once the page takes them. */
  #draw: (() => void) | undefined
  #isDrawn = true
  #whenRoom = Promise.withResolvers<void>()

  constructor(ports: HostPorts) {
    this.#ports = ports
  }

  take(order: SessionOrder): void {
    switch (order.kind) {
      case 'open':
        this.#secrets = order.secrets
        this.#open(order.device)
        return
      case 'secrets':
        this.#secrets = order.secrets
        return
      case 'drawn':
        this.#isDrawn = true
        this.#postSoon()
        return
      case 'wake':
        this.#replica?.watch.wake()
        return
      case 'close':
        void this.#replica?.close()
    }
  }

  #open({ baseUrl, deviceKey, token }: SessionDevice): void {
    const { openReplica, positions, post } = this.#ports
    const replica = openReplica({
      baseUrl,
      deviceKey,
      token,
      client: 'heliograph console',
      secretOf: (id) => this.#secrets.get(id),
      store: positions(`console ${deviceKey.slice(0, 8)}`),
      onState: (state) => post({ kind: 'state', state: stateOf(state) }),
      onEntry: (delivery) => {
        if (delivery.model === 'thing') return undefined
        return this.#happened({ kind: 'entry', delivery })
      },
      onChannel: ({ channelId, channelName }) =>
        this.#happened({ kind: 'channel', channelId, channelName }),
      onCaughtUp: (channelId) => this.#happened({ kind: 'caught-up', channelId }),
      onUnsubscribed: (channelId) => this.#happened({ kind: 'unsubscribed', channelId }),
    })
    this.#replica = replica
    replica.onChange(
      foldedChanges(
        (changes) => {
          this.#things = newsOf(changes)
        },
        (draw) => {
          this.#draw = draw
          this.#postSoon()
        },
      ),
    )
    void replica.watch.ended.then((end) => post({ kind: 'ended', end: endOf(end) }))
  }

  /** Resolves when there is room for more. (session-host/2) */
  #happened(happening: Happening): Promise<void> | undefined {
    this.#happenings.push(happening)
    this.#postSoon()
    return this.#happenings.length < HAPPENINGS_MAX ? undefined : this.#whenRoom.promise
  }

  /** Posts after what is being handled. */
  #postSoon(): void {
    queueMicrotask(() => this.#post())
  }

  #post(): void {
    if (!this.#isDrawn) return // session-host/1
    this.#draw?.()
    this.#draw = undefined
    const [things, happenings] = [this.#things, this.#happenings]
    if (things.length === 0 && happenings.length === 0) return
    this.#things = []
    this.#happenings = []
    this.#isDrawn = false
    this.#ports.post({ kind: 'news', things, happenings })
    this.#whenRoom.resolve()
    this.#whenRoom = Promise.withResolvers<void>()
  }
}

function newsOf(changes: readonly ThingChanged[]): readonly ThingNews[] {
  return [...Map.groupBy(changes, ({ channelId }) => channelId)].map(([channelId, ofChannel]) => ({
    channelId,
    changed: ofChannel.flatMap(({ after }) => after ?? []),
    gone: ofChannel.flatMap(({ id, after }) => (after === undefined ? [id] : [])),
  }))
}

function stateOf(state: WatchState): SessionState {
  if (state.kind !== 'waiting') return { kind: state.kind }
  const { kind, delayMs, error } = state
  return { kind, delayMs, ...(error instanceof HeliographError && { code: error.code }) }
}

const endOf = (end: WatchEnd): SessionEnd =>
  end.kind === 'refused' ? { kind: end.kind, code: end.error.code } : { kind: end.kind }
