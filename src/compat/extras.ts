// The parts of an imitated tool's request beside the message itself: they are made to fit, never
// refused. (decisions.md 12)

import { bare, isSafeText } from '#domain/record'
import {
  IMAGE_BYTES_MAX,
  LIST_ITEMS_MAX,
  METADATA_KEY_BYTES_MAX,
  METADATA_TEXT_BYTES_MAX,
  TAG_BYTES_MAX,
} from '#src/schemas/fields/field-reader'
import { isLonger, utf8Bytes } from '#src/schemas/values'

/** A Message as POST /message takes it, without its credentials. */
export interface CompatibilityMessage {
  readonly title: string
  readonly body?: string
  readonly severity?: 'critical' | 'high' | 'normal' | 'low'
  readonly url?: string
  readonly images?: readonly string[]
  readonly tags?: readonly string[]
  readonly metadata?: Readonly<Record<string, string | number | boolean>>
  readonly ciphertext?: string
  /** Unix milliseconds; absent to send it at once. */
  readonly deliver_at?: number
}

export type Scalar = string | number | boolean

/** Members of the metadata that one request may fill. */
const EXTRAS_MAX = 32

/** Gathers values that no field has, as metadata under a prefix: `compat.<style>.` of styles. */
export class Extras {
  readonly #prefix: string
  readonly #metadata = bare<Scalar>()
  #count = 0

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** Keeps a value, cut to the bytes that metadata may have, unless it is blank. */
  add(name: string, value: Scalar | undefined): void {
    if (this.#count === EXTRAS_MAX) return
    if (typeof value === 'string') this.#keep(name, trimmed(value, METADATA_TEXT_BYTES_MAX))
    else this.#keep(name, value)
  }

  /** Keeps a value that is useless when cut, such as a URL, whole or not at all. */
  addWhole(name: string, value: string | undefined): void {
    if (value !== undefined && !isLonger(value, METADATA_TEXT_BYTES_MAX)) this.add(name, value)
  }

  /** The metadata; undefined when nothing was kept. */
  metadata(): Readonly<Record<string, Scalar>> | undefined {
    return this.#count === 0 ? undefined : this.#metadata
  }

  #keep(name: string, value: Scalar | undefined): void {
    const key = `${this.#prefix}${name.trim()}`
    if (value === undefined || value === '' || key in this.#metadata) return
    if (typeof value === 'number' && !Number.isFinite(value)) return
    if (!isSafeText(key) || isLonger(key, METADATA_KEY_BYTES_MAX)) return
    this.#metadata[key] = value
    this.#count += 1
  }
}

/**
 * Tags as a Message may have them: the first 32, each cut to 64 bytes. It looks no further: an
 * alarm may come with eighty thousand labels.
 */
export function fittingTags(tags: readonly string[]): readonly string[] | undefined {
  const fitting = new Set<string>()
  for (const tag of tags) {
    const fit = trimmed(tag, TAG_BYTES_MAX)
    if (fit !== '') fitting.add(fit)
    if (fitting.size === LIST_ITEMS_MAX) break
  }
  return fitting.size === 0 ? undefined : [...fitting]
}

/** URLs of pictures as a Message may have them: too long a one is left out. */
export function fittingImages(urls: readonly string[]): readonly string[] | undefined {
  const fitting = new Set(
    urls.map((url) => url.trim()).filter((url) => isWebUrl(url) && !isLonger(url, IMAGE_BYTES_MAX)),
  )
  return fitting.size === 0 ? undefined : [...fitting].slice(0, LIST_ITEMS_MAX)
}

export const isWebUrl = (text: string): boolean => /^https?:\/\/\S/i.test(text) && isSafeText(text)

/** The text without characters that no store can hold. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '')

/** The storable text, trimmed, and cut between two characters. */
export function trimmed(text: string, bytesMax: number): string {
  const safe = storable(text).trim()
  if (!isLonger(safe, bytesMax)) return safe
  let kept = ''
  let bytes = 0
  for (const character of safe) {
    bytes += utf8Bytes(character)
    if (bytes > bytesMax) break
    kept += character
  }
  return kept.trimEnd()
}
