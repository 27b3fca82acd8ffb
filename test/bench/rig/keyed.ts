// The product as one process, with channels that have a key each: no password is computed, so that
// many channels, and Things that were stored before, are there within seconds.

import { mkdir } from 'node:fs/promises'

import type { Recipe } from '#test/bench/load/payload'
import {
  addDevices,
  addKeyedChannels,
  addRules,
  addThings,
  countRows,
  storedIn,
} from './database.ts'
import { deviceKeysOf } from './device-keys.ts'
import { QUERIES, databaseIn, newToken, startGateway } from './gateway.ts'
import type { Settings } from './gateway.ts'
import { operationsEnded } from './subject.ts'
import type { Subject } from './subject.ts'

/** It divides the thousand channels of a row: each channel has one device. */
const DEVICES = 25

export interface Keyed {
  readonly name: string
  readonly channels: number
  /** Things of the workload; they are stored before, unless devices count entries from seq 1 on. */
  readonly things: number
  /** Present: devices that together see every channel. */
  readonly hasDevices?: true
  /** Rules of every channel. */
  readonly rules?: readonly object[]
  readonly settings?: Settings
}

/** Makes the database in a folder; gives the token of its gateway. */
export async function prepareKeyed(
  directory: string,
  { name, channels, things, hasDevices, rules, settings = {} }: Keyed,
): Promise<string> {
  const token = newToken()
  await mkdir(directory, { recursive: true })
  await (await startGateway(directory, token, settings)).stop() // It makes the tables.
  const path = databaseIn(directory)
  await addKeyedChannels(path, channels)
  if (hasDevices) {
    await addDevices(path, { name, count: DEVICES, channels: channels / DEVICES })
  } else await addThings(path, things)
  if (rules !== undefined) await addRules(path, rules)
  return token
}

/** Makes the database in a folder, and starts the product on it. */
export async function startKeyed(directory: string, keyed: Keyed): Promise<Subject> {
  const { name, channels, things, hasDevices, settings = {} } = keyed
  const token = await prepareKeyed(directory, keyed)
  const path = databaseIn(directory)
  const server = await startGateway(directory, token, settings)
  const recipe: Recipe = {
    path: '/thing/update',
    token,
    password: '',
    channels: [],
    keyedChannels: channels,
    thingCount: things,
  }
  return {
    name,
    servers: [server],
    entrances: [server],
    backend: {},
    recipe,
    deviceKeys: hasDevices ? deviceKeysOf(name, DEVICES) : [],
    applied: () => operationsEnded([server], token),
    count: () => countRows(path, QUERIES),
    stored: () => storedIn(path),
    release: () => Promise.resolve(),
    ran: {
      engine: 'embedded (node:sqlite)',
      sync: 'as the product starts by default: fsync before each 200',
      channels: `${channels}, with a key each`,
      things,
      settings: JSON.stringify(settings),
      subscribers: hasDevices ? `${DEVICES} devices, each with its part of the channels` : 'none',
    },
  }
}
