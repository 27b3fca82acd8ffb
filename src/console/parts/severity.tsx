// The severity of an Event or a Message: a word and a shape, so that no colour carries it alone.

import type { Json } from '#domain/submission'
import { SEVERITIES } from '#console/people/events.ts'
import { visible } from '#console/state/text.ts'
import { t } from '#console/words/words.ts'

export function Severity({ severity }: { readonly severity: Json | undefined }) {
  if (typeof severity !== 'string' || severity === '') return null
  const known = SEVERITIES.find((word) => word === severity.trim().toLowerCase())
  const text = known === undefined ? visible(severity.slice(0, 24)) : t(known)
  return <span class={`severity ${known ?? 'other'}`}>{text}</span>
}
