// Makes the lines of one screen of the demo, which fit the terminal: the device's Things, open
// Events, last deliveries and totals.

import type { ThingView } from '#src/client/view'
import type { Clock } from '#src/cli/deliveries/delivery-line'
import { aligned, onOneLine, shortened } from '#src/cli/terminal-text'
import type { Fields, Json } from '#domain/submission'
import type { OpenEvent } from './audience.ts'

export interface Scene {
  readonly heading: string
  /** The address of the console. */
  readonly address: string
  readonly things: readonly ThingView[]
  readonly openEvents: readonly OpenEvent[]
  /** The newest last. */
  readonly recent: readonly string[]
  /** Lines about pushes, the newest last; empty without pushes. */
  readonly pushes: readonly string[]
  readonly count: string
  readonly clock: Clock
}

export interface FrameLine {
  readonly text: string
  readonly isHeading: boolean
}

const TITLE_WIDTH = 24
const RECENT_MIN = 4
const PUSHES_MAX = 6
const ROWS_WITH_PUSHES_MIN = 20
const ROWS_BESIDE_ADDRESS_MIN = 19

/**
 * Lines of at most `columns` characters, for `rows` rows; the deliveries take the remaining ones.
 * The address is one line of any length: a terminal wraps it, and copies it whole.
 */
export function frameOf(
  scene: Scene,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly FrameLine[] {
  const state = [
    heading('Things'),
    ...thingLines(scene.things).map(plain),
    ...(scene.openEvents.length > 0 ? [plain(''), heading('Open Events')] : []),
    ...scene.openEvents.map((event) => plain(eventLine(event, scene.clock))),
  ]
  const pushLines =
    scene.pushes.length === 0 || rows < ROWS_WITH_PUSHES_MIN
      ? []
      : [plain(''), heading('Last pushes'), ...scene.pushes.slice(-PUSHES_MAX).map(plain)]
  const addressRows = Math.ceil(scene.address.length / columns)
  const hasAddress = addressRows > 0 && rows - addressRows >= ROWS_BESIDE_ADDRESS_MIN
  // First and last line, two blank ones and the heading of the deliveries make five.
  const fixedRows = 5 + (hasAddress ? addressRows : 0) + pushLines.length
  const stateRows = Math.max(0, Math.min(state.length, rows - fixedRows - RECENT_MIN))
  const recentRows = Math.max(0, rows - fixedRows - stateRows)
  const lines = [
    heading(scene.heading),
    ...(hasAddress ? [plain(scene.address)] : []),
    ...state.slice(0, stateRows),
    plain(''),
    heading('Last deliveries'),
    ...(recentRows === 0 ? [] : scene.recent.slice(-recentRows).map(plain)),
    ...pushLines,
    plain(''),
    plain(scene.count),
  ]
  return lines.slice(0, rows).map(({ text, isHeading }) => ({
    text: text === scene.address ? text : shortened(text, columns),
    isHeading,
  }))
}

const plain = (text: string): FrameLine => ({ text, isHeading: false })
const heading = (text: string): FrameLine => ({ text, isHeading: true })

/** One line for each Thing, kind by kind; the values of one kind line up. */
function thingLines(things: readonly ThingView[]): readonly string[] {
  const idWidth = Math.max(0, ...things.map(({ id }) => id.length))
  const titleWidth = Math.max(0, ...things.map((thing) => titleOf(thing).length))
  if (things.length === 0) return ['none yet']
  return KINDS.flatMap((kind) =>
    aligned(
      things
        .filter((thing) => kindOf(thing) === kind)
        .toSorted(inOrder)
        .map((thing) => [
          thing.id.padEnd(idWidth),
          titleOf(thing).padEnd(titleWidth),
          ...inReadingOrder(thing.attrs).map((key) => valueText(key, thing.attrs)),
        ]),
    ),
  )
}

// The most useful come first; other names follow in alphabetical order.
const KEYS = [
  'cpu_percent',
  'load_1m',
  'load_5m',
  'load_15m',
  'memory_percent',
  'memory_used_bytes',
  'memory_total_bytes',
  'used_percent',
  'used_bytes',
  'total_bytes',
]

function inReadingOrder(attrs: Fields): readonly string[] {
  const known = KEYS.filter((key) => key in attrs)
  const others = Object.keys(attrs).filter((key) => !KEYS.includes(key))
  return [...known, ...others.toSorted()]
}

const KINDS = ['host', 'disk', 'net', 'proc', ''] as const

const kindOf = ({ id }: ThingView): (typeof KINDS)[number] =>
  KINDS.find((kind) => id === kind || id.startsWith(`${kind}:`)) ?? ''

const titleOf = ({ fields }: ThingView): string => {
  const title = fields['title']
  return typeof title === 'string' ? shortened(onOneLine(title), TITLE_WIDTH) : ''
}

/** Orders processes by their CPU use, everything else by id. */
function inOrder(a: ThingView, b: ThingView): number {
  if (kindOf(a) === 'proc') return percentOf(b) - percentOf(a) || a.id.localeCompare(b.id)
  return a.id.localeCompare(b.id)
}

const percentOf = ({ attrs }: ThingView): number => Number(attrs['cpu_percent'] ?? 0)

const eventLine = ({ title, sinceMs, message }: OpenEvent, clock: Clock): string =>
  [title, `since ${clock(sinceMs)}`, ...(message === '' ? [] : [message])].map(onOneLine).join('  ')

const UNITS: readonly (readonly [suffix: RegExp, text: (value: number) => string])[] = [
  [/_bytes_per_second$/, (value) => `${bytesText(value)}/s`],
  [/_bytes$/, bytesText],
  [/_percent$/, (value) => `${value.toFixed(1).padStart(5)} %`],
  [/_seconds$/, durationText],
]

/** The name without its unit, then the value with the unit. */
function valueText(key: string, attrs: Fields): string {
  const value: Json = attrs[key] ?? null
  const [suffix, text] = UNITS.find(([pattern]) => pattern.test(key)) ?? []
  if (typeof value !== 'number' || suffix === undefined || text === undefined) {
    return `${onOneLine(key)} ${onOneLine(JSON.stringify(value))}`
  }
  return `${onOneLine(key.replace(suffix, ''))} ${text(value)}`
}

function bytesText(bytes: number): string {
  const scale = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = bytes < 1 ? 0 : Math.min(scale.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${value.toFixed(power === 0 ? 0 : 1).padStart(6)} ${scale[power] ?? ''}`
}

function durationText(seconds: number): string {
  const days = Math.floor(seconds / 86_400)
  const [hours, minutes] = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60]
  const clock = [hours, minutes, Math.floor(seconds % 60)].map((part) => `${part}`.padStart(2, '0'))
  return `${days === 0 ? '' : `${days} d `}${clock.join(':')}`
}
