// Starts subjects and keeps the data that several begin with: prepares it once and copies it.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Prepared } from '#test/bench/rig/caller'
import { prepareCluster, startCluster, startPreparedCluster } from '#test/bench/rig/cluster'
import type { Cluster, Layout } from '#test/bench/rig/cluster'
import {
  CHANNEL_COUNT,
  startBareHttp,
  startStraightLine,
  startStraightLineCluster,
} from '#test/bench/rig/denominators'
import { prepareGateway, startPrepared } from '#test/bench/rig/gateway'
import type { Settings } from '#test/bench/rig/gateway'
import type { Subject } from '#test/bench/rig/subject'
import type { SubjectId } from './row.ts'

export type Engine = 'embedded' | 'cluster'

/** Every start gets a folder of its own below one that goes away with the session. */
export class Subjects {
  readonly #say: (line: string) => void
  readonly #prepared = new Map<string, Promise<Prepared>>()
  #directory: Promise<string> | undefined

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  async denominator(id: SubjectId): Promise<Subject> {
    switch (id) {
      case 'D1':
        return startBareHttp()
      case 'D4-embedded':
        return startStraightLine(await this.scratch())
      case 'D4-cluster':
        return startStraightLineCluster(join(await this.scratch(), id))
    }
  }

  /** The product, in a folder of this name; a cluster in this layout. */
  async product(
    engine: Engine,
    name: string,
    layout: Layout = 'even',
    channels = CHANNEL_COUNT,
  ): Promise<Subject> {
    const prepared = await this.prepared(engine, channels)
    const directory = join(await this.scratch(), name)
    return engine === 'embedded'
      ? startPrepared(prepared, directory)
      : startPreparedCluster(prepared, directory, layout)
  }

  /** A sole process with these settings, in this folder. */
  async sole(directory: string, settings: Settings): Promise<Subject> {
    return startPrepared(await this.prepared('embedded'), directory, settings)
  }

  /** A cluster whose nodes can be killed, in a folder of this name. */
  async cluster(name: string): Promise<Cluster> {
    return startCluster(await this.prepared('cluster'), join(await this.scratch(), name))
  }

  /** The first data of the product: channels and devices, made once. */
  prepared(engine: Engine, channels = CHANNEL_COUNT): Promise<Prepared> {
    const name = `${engine}-${channels}`
    const known = this.#prepared.get(name)
    if (known !== undefined) return known
    const prepared = this.#prepare(engine, channels)
    this.#prepared.set(name, prepared)
    return prepared
  }

  async #prepare(engine: Engine, channels: number): Promise<Prepared> {
    const count = channels.toLocaleString('en')
    this.#say(`preparing (${engine}): ${count} channels, one password hash each`)
    const directory = join(await this.scratch(), `prepared-${engine}-${channels}`)
    return engine === 'embedded'
      ? prepareGateway(directory, channels)
      : prepareCluster(directory, channels)
  }

  /** A directory that goes away with the session. */
  scratch(): Promise<string> {
    this.#directory ??= mkdtemp(join(tmpdir(), 'heliograph-bench-'))
    return this.#directory
  }

  async close(): Promise<void> {
    if (this.#directory === undefined) return
    await rm(await this.#directory, { recursive: true, force: true })
  }
}
