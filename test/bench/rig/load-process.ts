// The generator and the subscribers as child processes that take one order at a time.

import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import type {
  AttackOrder,
  AttackReport,
  DatagramOrder,
  DatagramReport,
  GeneratorOrder,
  IdleOrder,
  LoadReport,
  LoadRequest,
  MqttOrder,
  MqttReport,
  SubscriberOrder,
  SubscriberReport,
} from '#test/bench/load/messages'

class LoadProcess<Order extends object> {
  readonly #child: ChildProcess
  /** The caller that waits for the one answer on its way. */
  #waiting: PromiseWithResolvers<unknown> | undefined

  constructor(script: string) {
    this.#child = fork(new URL(script, import.meta.url))
    this.#child.on('message', (answer) => this.#waiting?.resolve(answer))
    this.#child.on('exit', (code) =>
      this.#waiting?.reject(new Error(`a load process ended with ${code}`)),
    )
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Sends one order and gives its answer, whose type is the order's own. */
  protected async ask<Answer>(order: Order): Promise<Answer> {
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting = waiting
    this.#child.send(order)
    return (await waiting.promise) as Answer
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill()
    await exited
  }
}

export class Generator extends LoadProcess<GeneratorOrder> {
  constructor() {
    super('../load/generator.ts')
  }

  connect(order: Omit<Extract<GeneratorOrder, { kind: 'connect' }>, 'kind'>): Promise<unknown> {
    return this.ask({ kind: 'connect', ...order })
  }

  load(request: LoadRequest): Promise<LoadReport> {
    return this.ask({ kind: 'load', request })
  }
}

export class Subscribers extends LoadProcess<SubscriberOrder> {
  constructor() {
    super('../load/subscriber.ts')
  }

  request(order: SubscriberOrder): Promise<SubscriberReport> {
    return this.ask(order)
  }
}

export class IdleDevices extends LoadProcess<IdleOrder> {
  constructor() {
    super('../load/idle-devices.ts')
  }

  /** Resolves once all are connected. */
  connect(order: IdleOrder): Promise<unknown> {
    return this.ask(order)
  }
}

export class MqttClients extends LoadProcess<MqttOrder> {
  constructor() {
    super('../load/mqtt-clients.ts')
  }

  /** Resolves once all are connected. */
  connect(port: number, userNames: readonly string[], things: number): Promise<unknown> {
    return this.ask({ kind: 'connect', port, userNames, things })
  }

  publish(order: Omit<Extract<MqttOrder, { kind: 'publish' }>, 'kind'>): Promise<MqttReport> {
    return this.ask({ kind: 'publish', ...order })
  }
}

export class QuicStrangers extends LoadProcess<DatagramOrder> {
  constructor() {
    super('../load/quic-strangers.ts')
  }

  flood(order: DatagramOrder): Promise<DatagramReport> {
    return this.ask(order)
  }
}

export class MqttAttackers extends LoadProcess<AttackOrder> {
  constructor() {
    super('../load/mqtt-attackers.ts')
  }

  attack(order: AttackOrder): Promise<AttackReport> {
    return this.ask(order)
  }
}
