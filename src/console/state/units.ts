// Values as a person reads them. The name of an attr tells its unit: `_percent`, `_bytes`, …

import type { Json } from '#domain/submission'

const UNITS: readonly (readonly [ending: RegExp, unit: string])[] = [
  [/_(percent|pct)$|^(humidity|battery)$/, '%'],
  [/_(celsius|c)$|^temperature$/, '°C'],
  [/_fahrenheit$/, '°F'],
  [/_kelvin$/, 'K'],
  [/_(volts?|v)$|^voltage$/, 'V'],
  [/_(milliamperes?|ma)$/, 'mA'],
  [/_(amperes?|amps)$|^current$/, 'A'],
  [/_(kwh|kilowatt_hours)$/, 'kWh'],
  [/_(watts?|w)$|^power$/, 'W'],
  [/_(hectopascals?|hpa)$/, 'hPa'],
  [/_bar$/, 'bar'],
  [/_(lux|lx)$|^illuminance$/, 'lx'],
  [/_ppm$|^co2$/, 'ppm'],
  [/_(milliseconds|ms)$/, 'ms'],
  [/_(hertz|hz)$/, 'Hz'],
  [/_(decibels?|db)$|^(rssi|snr)$/, 'dB'],
  [/_(meters|metres)$/, 'm'],
  [/_(kmh|kilometers_per_hour)$/, 'km/h'],
]
const BYTES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

export interface Shown {
  readonly text: string
  readonly unit: string
}

/** A value of an attr as text with its unit; `name` decides the unit. */
export function shown(name: string, value: Json | undefined, locale: string): Shown {
  if (typeof value === 'string') return { text: value, unit: '' }
  if (typeof value !== 'number') return { text: JSON.stringify(value) ?? '', unit: '' }
  const key = name.toLowerCase()
  if (/_bytes(_per_second)?$|^bytes$/.test(key)) return bytes(key, value, locale)
  if (/_seconds$|^uptime$/.test(key) && Math.abs(value) >= 120) return duration(value, locale)
  const unit = /_seconds$|^uptime$/.test(key)
    ? 's'
    : (UNITS.find(([ending]) => ending.test(key))?.[1] ?? '')
  return { text: number(value, locale), unit }
}

const formats = new Map<string, Intl.NumberFormat>()

/** Sizes whose digits would fill a line, or be nothing but zeros. */
const LARGE = 1e15
const SMALL = 1e-3

/** At most four digits that matter beside those of a whole number. */
export function number(value: number, locale: string): string {
  const size = Math.abs(value)
  const digits = size >= 1000 || Number.isInteger(value) ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 3
  const isScientific = size >= LARGE || (size > 0 && size < SMALL)
  const key = `${locale} ${isScientific ? 'scientific' : digits}`
  const known =
    formats.get(key) ??
    new Intl.NumberFormat(
      locale,
      isScientific
        ? { notation: 'scientific', maximumSignificantDigits: 4 }
        : { maximumFractionDigits: digits },
    )
  formats.set(key, known)
  return known.format(value)
}

function bytes(name: string, value: number, locale: string): Shown {
  let [rest, step] = [value, 0]
  while (Math.abs(rest) >= 1000 && step < BYTES.length - 1) {
    rest /= 1000
    step += 1
  }
  const unit = BYTES[step] ?? ''
  return { text: number(rest, locale), unit: name.includes('per_second') ? `${unit}/s` : unit }
}

function duration(seconds: number, locale: string): Shown {
  const size = Math.abs(seconds)
  if (size < 7_200) return { text: number(Math.round(seconds / 60), locale), unit: 'min' }
  if (size < 172_800) return { text: number(Math.round(seconds / 360) / 10, locale), unit: 'h' }
  return { text: number(Math.round(seconds / 8_640) / 10, locale), unit: 'd' }
}

/** The first attr with a number: the one that an overview draws a line of. */
export const firstNumber = (attrs: Readonly<Record<string, Json>>): string | undefined => {
  for (const name in attrs) if (typeof attrs[name] === 'number') return name
  return undefined
}
