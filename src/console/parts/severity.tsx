// The severity of an Event or a Message: a word and a shape, so that no colour carries it alone.

import type { Json } from '#domain/submission'
import { plain, visible } from '#console/state/text.ts'
import { t } from '#console/words/words.ts'

const KNOWN = ['critical', 'high', 'normal', 'low'] as const
type Known = (typeof KNOWN)[number]

export const knownSeverity = (severity: Json | undefined): Known | undefined =>
  KNOWN.find((word) => word === plain(severity).toLowerCase())

/** Where an Event stands among others: the gravest first. */
export const gravity = (severity: Json | undefined): number => {
  const known = knownSeverity(severity)
  return known === undefined ? 2 : KNOWN.indexOf(known)
}

export function Severity({ severity }: { readonly severity: Json | undefined }) {
  if (typeof severity !== 'string' || severity === '') return null
  const known = knownSeverity(severity)
  const text = known === undefined ? visible(severity.slice(0, 24)) : t(known)
  return <span class={`severity ${known ?? 'other'}`}>{text}</span>
}
