// Values by name, as a person writes them: numbers, true, false and JSON are taken as such.

import type { Json } from '#domain/submission'
import { typedIn } from '#console/state/text.ts'
import { t } from '#console/words/words.ts'
import { Field } from './form.tsx'

export interface Pair {
  readonly name: string
  readonly value: string
}

export const EMPTY_PAIR: Pair = { name: '', value: '' }

/** The values of pairs with a name. */
export function valuesOf(pairs: readonly Pair[]): Record<string, Json> {
  const named = pairs.filter(({ name }) => name.trim() !== '')
  return Object.fromEntries(named.map(({ name, value }) => [name.trim(), typedIn(value)]))
}

interface PairsProps {
  readonly pairs: readonly Pair[]
  readonly onPairs: (pairs: readonly Pair[]) => void
}

export function Pairs({ pairs, onPairs }: PairsProps) {
  const change = (at: number, next: Partial<Pair>): void =>
    onPairs(pairs.map((pair, index) => (index === at ? { ...pair, ...next } : pair)))
  return (
    <fieldset class="pairs">
      <legend>{t('values')}</legend>
      {pairs.map((pair, at) => (
        <div class="pair" key={at}>
          <Field
            label={t('valueName')}
            value={pair.name}
            onValue={(name) => change(at, { name })}
            input={{ class: 'mono' }}
          />
          <Field label={t('value')} value={pair.value} onValue={(value) => change(at, { value })} />
          <button
            type="button"
            class="quiet"
            aria-label={t('removeValue', { name: pair.name })}
            onClick={() => onPairs(pairs.filter((_, index) => index !== at))}
          >
            ✕
          </button>
        </div>
      ))}
      <button type="button" class="quiet" onClick={() => onPairs([...pairs, EMPTY_PAIR])}>
        {t('addValue')}
      </button>
    </fieldset>
  )
}
