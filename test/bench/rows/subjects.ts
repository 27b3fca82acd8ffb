// Starts the subjects of rows, each in a folder of its own.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { CHANNEL_COUNT, THING_COUNT } from '#test/bench/load/payload'
import { startClusterSubject } from '#test/bench/rig/cluster'
import type { Layout } from '#test/bench/rig/cluster'
import {
  startBareHttp,
  startStraightLine,
  startStraightLineCluster,
} from '#test/bench/rig/denominators'
import { startKeyed } from '#test/bench/rig/keyed'
import type { Subject } from '#test/bench/rig/subject'
import type { SubjectId } from './row.ts'

export type Engine = 'embedded' | 'cluster'

/** Every start gets a folder of its own below one that goes away with the session. */
export class Subjects {
  #directory: Promise<string> | undefined

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

  /**
   * The product in a new folder of this name, with devices that together see every channel; a
   * cluster in this layout.
   */
  async product(
    engine: Engine,
    name: string,
    layout: Layout = 'even',
    channels = CHANNEL_COUNT,
  ): Promise<Subject> {
    const directory = join(await this.scratch(), name)
    return engine === 'embedded'
      ? startKeyed(directory, { name, channels, things: THING_COUNT, hasDevices: true })
      : startClusterSubject(directory, { name, channels, layout })
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
