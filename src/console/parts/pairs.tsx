// Values by name, as a person writes them.

import { EMPTY_PAIR } from '#console/state/pairs.ts'
import type { Pair } from '#console/state/pairs.ts'
import { t } from '#console/words/words.ts'
import { Field } from './form.tsx'

interface PairsProps {
  readonly pairs: readonly Pair[]
  readonly onPairs: (pairs: readonly Pair[]) => void
  /** What the values are; `Values` by default. */
  readonly legend?: string
  readonly problem?: string | undefined
}

export function Pairs({ pairs, onPairs, legend, problem }: PairsProps) {
  const change = (at: number, next: Partial<Pair>): void =>
    onPairs(pairs.map((pair, index) => (index === at ? { ...pair, ...next } : pair)))
  return (
    <fieldset class="pairs">
      <legend>{legend ?? t('values')}</legend>
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
      {problem !== undefined && <p class="problem">{problem}</p>}
    </fieldset>
  )
}
