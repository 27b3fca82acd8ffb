// The device-key style, both versions: their parameters as a Message. (decisions.md 12)

import { defined } from '#domain/record'
import { TITLE_IN_DEFAULT } from '#domain/submission'
import type { CompatibilityMessage } from '#src/compat/extras'
import { Extras, fittingImages, fittingTags, storable } from '#src/compat/extras'
import type { Given } from '#src/compat/values-body'

/** Severities by the name in lower case: clients spell timeSensitive in two ways. */
const SEVERITY_OF: Readonly<Record<string, CompatibilityMessage['severity']>> = {
  critical: 'critical',
  timesensitive: 'high',
  passive: 'low',
}

/** Parameters that have a place of their own, or are no part of the message. */
const PLACED: ReadonlySet<string> = new Set([
  'device_key',
  'device_keys',
  'title',
  'body',
  'markdown',
  'group',
  'image',
  'url',
  'ciphertext',
  'auth',
  'authorization',
  'timestamp',
])
const URLS: ReadonlySet<string> = new Set(['icon'])

/** The Message of a request, whose names are in lower case. It always has a text. */
export function readDeviceKeyMessage(given: Given): CompatibilityMessage {
  const markdown = given.text('markdown')
  const subtitle = given.text('subtitle')
  const title = given.text('title')
  const body = markdown ?? given.text('body')
  const isEmpty = title === undefined && body === undefined && subtitle === undefined
  const level = given.text('level')?.toLowerCase()
  const group = given.text('group')
  const image = given.text('image')
  return defined({
    title: title ?? TITLE_IN_DEFAULT,
    body: isEmpty ? 'Empty Message' : body,
    severity: level === undefined ? undefined : (SEVERITY_OF[level] ?? 'normal'),
    url: given.text('url'),
    images: image === undefined ? undefined : fittingImages([image]),
    tags: group === undefined ? undefined : fittingTags([group]),
    metadata: extrasOf(given).metadata(),
    ciphertext: given.text('ciphertext'),
  })
}

function extrasOf(given: Given): Extras {
  const extras = new Extras('compat.devicekey.')
  if (given.has('markdown')) extras.add('markdown', true)
  for (const [name, value] of given.scalars()) {
    if (PLACED.has(name)) continue
    if (URLS.has(name)) extras.addWhole(name, String(value))
    else extras.add(name, value)
  }
  return extras
}

/** Keys that one request may name. */
export const DEVICE_KEYS_MAX = 100

/** The keys of a batch, in an array or in one text with commas; undefined without the member. */
export function deviceKeysOf(given: Given): readonly string[] | 'neither' | undefined {
  const sent = given.value('device_keys')
  if (sent === undefined) return undefined
  const keys = typeof sent === 'string' ? sent.split(',') : sent
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string')) return 'neither'
  return keys.flatMap((key) => storable(key).trim() || [])
}
