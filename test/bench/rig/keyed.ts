// The product as one process, on a database with channels that have a key each.

import { mkdir } from 'node:fs/promises'

import { keysOf } from './channel-keys.ts'
import {
  addDevices,
  addKeyedChannels,
  addRules,
  addThings,
  countRows,
  storedIn,
} from './database.ts'
import { deviceKeysOf, devicesOfAll } from './device-keys.ts'
import type { NewDevices } from './device-keys.ts'
import { QUERIES, databaseIn, newToken, startGateway } from './gateway.ts'
import type { Settings } from './gateway.ts'
import { operationsEnded } from './subject.ts'
import type { Subject } from './subject.ts'

/** The rows that a database gets before a gateway is measured on it. */
export interface Preparation {
  /** Channels with a key each. */
  readonly channels: number
  /** Things of the workload that are stored, without entries in the feed. */
  readonly stored?: number
  readonly devices?: NewDevices
  /** Rules of every channel. */
  readonly rules?: readonly object[]
  readonly settings?: Settings
}

export interface Keyed extends Pick<Preparation, 'channels' | 'rules' | 'settings'> {
  readonly name: string
  /** Things of the workload; they are stored before, unless devices count entries from seq 1 on. */
  readonly things: number
  /** Present: devices that together see every channel. */
  readonly hasDevices?: true
  /** Channels with a key beside these, which have no part in the load. */
  readonly apart?: number
}

/** Makes the database in a folder. Returns the token of its gateway. */
export async function prepareKeyed(directory: string, preparation: Preparation): Promise<string> {
  const { channels, stored, devices, rules, settings = {} } = preparation
  const token = newToken()
  await mkdir(directory, { recursive: true })
  await (await startGateway(directory, token, settings)).stop() // It makes the tables.
  const path = databaseIn(directory)
  await addKeyedChannels(path, channels)
  if (stored !== undefined) await addThings(path, stored)
  if (devices !== undefined) await addDevices(path, devices)
  if (rules !== undefined) await addRules(path, rules)
  return token
}

/** Makes the database in a folder, and starts the product on it. */
export async function startKeyed(directory: string, keyed: Keyed): Promise<Subject> {
  const { name, channels, things, hasDevices, apart = 0, settings = {} } = keyed
  const devices = hasDevices === true ? devicesOfAll(name, channels) : undefined
  const held = devices === undefined ? { stored: things } : { devices }
  const token = await prepareKeyed(directory, {
    ...keyed,
    ...held,
    channels: channels + apart,
  })
  const path = databaseIn(directory)
  const server = await startGateway(directory, token, settings)
  return {
    name,
    servers: [server],
    entrances: [server],
    backend: {},
    recipe: { token, keys: keysOf(channels), thingCount: things },
    deviceKeys: devices === undefined ? [] : deviceKeysOf(name, devices.count),
    applied: () => operationsEnded([server], token),
    count: () => countRows(path, QUERIES),
    stored: () => storedIn(path),
    release: () => Promise.resolve(),
    ran: {
      engine: 'embedded (node:sqlite)',
      sync: 'as the product starts by default: fsync before each 200',
      batch: 'default limits (256 submissions or 256 KiB per lane)',
      processes: '1, with its two worker threads',
      channels: `${channels}, with a key each`,
      things,
      settings: JSON.stringify(settings),
      subscribers:
        devices === undefined
          ? 'none'
          : `${devices.count} devices, each with its part of the channels`,
    },
  }
}
