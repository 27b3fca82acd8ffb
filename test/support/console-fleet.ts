// A fleet to look at in the console: 300 Things of five kinds at 24 updates a second, and four
// rules. As a program: `node --conditions=heliograph-source test/support/console-fleet.ts URL
// [TOKEN]` makes a channel, prints the link that opens it, and sends until it is stopped.

import { setTimeout as delay } from 'node:timers/promises'

import { createClient } from '#src/client/client'
import type { Client } from '#src/client/client'
import type { Json } from '#domain/submission'

export interface Fleet {
  readonly channel_id: string
  /** A secret. */
  readonly password: string
}

type Attrs = Readonly<Record<string, Json>>

interface Kind {
  readonly prefix: string
  readonly count: number
  readonly title: string
  /** The values of the Thing of a number at a time, in Unix milliseconds. */
  readonly attrs: (number: number, atMs: number) => Attrs
  /** Fields beside the values. */
  readonly fields?: (number: number, atMs: number) => Attrs
  /** How much earlier than they are sent readings were observed. */
  readonly lateMs?: number
}

const ROOMS = ['Kitchen', 'Hall', 'Office', 'Storeroom', 'Lab', 'Workshop'] as const
const HOUR_MS = 3_600_000
/** Things that send one reading alone, by their prefix: the rule about silence opens for them. */
const SILENT: Readonly<Record<string, number>> = { 'climate-': 5, 'door-': 3 }

/** A value that swings around a middle, each Thing at another place of the swing. */
const swing = (middle: number, by: number, number: number, atMs: number): number =>
  Math.round((middle + by * Math.sin(atMs / 600_000 + number * 1.7)) * 10) / 10

const KINDS: readonly Kind[] = [
  {
    prefix: 'climate-',
    count: 120,
    title: 'Climate',
    attrs: (number, atMs) => ({
      temperature: swing(number % 40 === 7 ? 31 : 21, 2, number, atMs),
      humidity: swing(48, 9, number, atMs),
      co2: Math.round(swing(640, 180, number, atMs)),
      ...(number % 5 === 0 && { battery: number === 20 ? 9 : 60 + (number % 40) }),
    }),
  },
  {
    prefix: 'door-',
    count: 80,
    title: 'Door',
    attrs: (number, atMs) => ({
      open: number % 27 === 4 || Math.floor(atMs / 20_000 + number * 7) % 23 === 0,
      battery: 40 + ((number * 7) % 60),
    }),
  },
  {
    prefix: 'pump-',
    count: 60,
    title: 'Pump',
    attrs: (number, atMs) => ({
      running: Math.floor(atMs / 90_000 + number) % 3 !== 0,
      pressure_bar: swing(3.4, 0.6, number, atMs),
      power_watts: Math.round(swing(740, 90, number, atMs)),
      mode: number % 11 === 0 ? 'maintenance' : 'automatic',
    }),
  },
  {
    prefix: 'tracker-',
    count: 39,
    title: 'Van',
    attrs: (number, atMs) => ({
      speed_kmh: Math.max(0, swing(38, 40, number, atMs)),
      battery: 55 + ((number * 11) % 45),
    }),
    fields: (number, atMs) => {
      const turn = atMs / HOUR_MS + number
      const latitude = 52.5 + 0.09 * Math.sin(turn) + 0.004 * number
      const longitude = 13.4 + 0.16 * Math.cos(turn * 0.8) - 0.003 * number
      const location_value = `${latitude.toFixed(5)},${longitude.toFixed(5)}`
      return { location_type: 'geo', location_value }
    },
  },
  {
    prefix: 'logger-',
    count: 1,
    title: 'Logger',
    attrs: (number, atMs) => ({ level_meters: swing(2.4, 0.4, number, atMs) }),
    lateMs: 22 * 60_000,
  },
]

const RULES = {
  doors: {
    title: 'Doors: open for 10 s',
    things: { tag: 'door' },
    when: { attr: 'open', equals: true },
    for: '10s',
    event: { title: '{thing.title} is open', severity: 'normal' },
  },
  warm: {
    title: 'Too warm',
    things: { prefix: 'climate-' },
    when: { attr: 'temperature', above: 28 },
    event: { title: '{thing.title}: {temperature} °C', severity: 'critical', update_every: '1m' },
  },
  silence: {
    title: 'Silence',
    things: 'all',
    when: { silent: '1m' },
    event: { title: '{thing.title} is silent', severity: 'high' },
  },
  // Most Things have no battery: the rule cannot use their values.
  battery: {
    title: 'Battery',
    things: 'all',
    when: { attr: 'battery', below: 15 },
    event: { title: '{thing.title}: battery at {battery} %', severity: 'low' },
  },
} as const

/** How its values are shown: a label, a range, words for a door. */
const PRESENTATION = [
  { things: {}, attrs: { battery: { label: 'Battery', min: 0, max: 100, order: 9 } } },
  {
    things: { tag: 'climate' },
    attrs: {
      temperature: { label: 'Temperature', min: 0, max: 40, decimals: 1 },
      humidity: { label: 'Humidity', min: 0, max: 100 },
      co2: { label: 'CO₂', min: 400, max: 2_000, decimals: 0 },
    },
  },
  { things: { tag: 'door' }, attrs: { open: { label: 'Door', on: 'open', off: 'closed' } } },
  { things: { tag: 'pump' }, attrs: { pressure_bar: { label: 'Pressure', min: 0, max: 6 } } },
]

interface Place {
  readonly kind: Kind
  readonly number: number
}

/** Every Thing of the fleet, the kinds mixed so that each second has some of each. */
const PLACES: readonly Place[] = KINDS.flatMap((kind) =>
  Array.from({ length: kind.count }, (_, index) => ({
    kind,
    number: index + 1,
    order: index / kind.count,
  })),
).toSorted((a, b) => a.order - b.order)

const isSilent = ({ kind: { prefix, count }, number }: Place): boolean =>
  number > count - (SILENT[prefix] ?? 0)

function updateOf({ kind, number }: Place, atMs: number) {
  const observed_at = atMs - (kind.lateMs ?? 0)
  const room = ROOMS[number % ROOMS.length] ?? ''
  return {
    thing_id: `${kind.prefix}${number}`,
    title: `${kind.title} ${room} ${number}`,
    tags: [kind.prefix.slice(0, -1), room.toLowerCase()],
    observed_at,
    attrs: kind.attrs(number, observed_at),
    ...kind.fields?.(number, observed_at),
  }
}

/** Makes the channel with its rules, and sends the first reading of every Thing. */
export async function makeFleet(client: Client, password: string): Promise<Fleet> {
  const { channel_id } = await client.channel.create({ channel_name: 'Plant', password })
  const fleet = { channel_id, password }
  await client.channel.presentation({ ...fleet, presentation: PRESENTATION })
  for (const [rule_id, rule] of Object.entries(RULES)) {
    await client.rule.put({ ...fleet, rule_id, rule })
  }
  await Promise.all(PLACES.map((place) => send(client, fleet, place)))
  return fleet
}

async function send(client: Client, fleet: Fleet, place: Place): Promise<void> {
  await client.thing.update({ ...fleet, ...updateOf(place, Date.now()) })
}

const PERIOD_MS = 250
const UPDATES_A_PERIOD = 6

/** Sends 24 readings a second, each Thing every 12 s, until it is stopped. */
export async function runFleet(client: Client, fleet: Fleet, stopped: AbortSignal): Promise<void> {
  const places = PLACES.filter((place) => !isSilent(place))
  for (let next = 0; !stopped.aborted; next += UPDATES_A_PERIOD) {
    const due = Array.from(
      { length: UPDATES_A_PERIOD },
      (_, at) => places[(next + at) % places.length],
    )
    await Promise.all(due.flatMap((place) => (place ? [send(client, fleet, place)] : [])))
    await delay(PERIOD_MS, undefined, { signal: stopped }).catch(() => {})
  }
}

/** The link that opens the fleet's channel in the console. */
export function linkTo(
  { channel_id, password }: Fleet,
  { baseUrl, token }: { readonly baseUrl: string; readonly token?: string | undefined },
): string {
  const parts = [channel_id, password, ...(token === undefined ? [] : [token])]
  return `${baseUrl}/console/#/open/${parts.map(encodeURIComponent).join('/')}`
}

if (import.meta.main) {
  const [baseUrl = 'http://127.0.0.1:8080', token] = process.argv.slice(2)
  const client = createClient({ baseUrl, token })
  const fleet = await makeFleet(client, `fleet-${crypto.randomUUID().slice(0, 8)}`)
  process.stdout.write(`${linkTo(fleet, { baseUrl, token })}\n`)
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  await runFleet(client, fleet, stop.signal)
}
