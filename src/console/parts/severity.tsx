// The severity of an Event or a Message: a word and a shape, so that no colour carries it alone.

import { SEVERITIES } from '#domain/submission'
import type { Json, Severity as SeverityWord } from '#domain/submission'
import { visible } from '#console/state/text.ts'
import { t } from '#console/words/words.ts'
import { Choice } from './form.tsx'

export function Severity({ severity }: { readonly severity: Json | undefined }) {
  if (typeof severity !== 'string' || severity === '') return null
  const known = SEVERITIES.find((word) => word === severity.trim().toLowerCase())
  const text = known === undefined ? visible(severity.slice(0, 24)) : t(known)
  return <span class={`severity ${known ?? 'other'}`}>{text}</span>
}

interface ChoiceProps {
  readonly label?: string
  readonly value: string
  /** The text of the choice of none; without it there is none. */
  readonly none?: string
  readonly onValue: (value: SeverityWord | '') => void
}

export const SeverityChoice = ({ label, value, none, onValue }: ChoiceProps) => (
  <Choice<SeverityWord | ''>
    label={label ?? t('severity')}
    value={SEVERITIES.find((word) => word === value) ?? ''}
    options={[
      ...(none === undefined ? [] : [['', none] as const]),
      ...SEVERITIES.map((word) => [word, t(word)] as const),
    ]}
    onValue={onValue}
  />
)
