// Findings of the doctor; each states one fact.

export interface Finding {
  readonly check: string
  readonly result: 'ok' | 'warning' | 'problem' | 'skipped'
  readonly detail: string
  /** The remedy. */
  readonly hint?: string
}

export const ok = (check: string, detail: string): Finding => ({ check, result: 'ok', detail })

export const skipped = (check: string, detail: string): Finding => ({
  check,
  result: 'skipped',
  detail,
})

export const warning = (check: string, detail: string, hint: string): Finding => ({
  check,
  result: 'warning',
  detail,
  hint,
})

export const problem = (check: string, detail: string, hint: string): Finding => ({
  check,
  result: 'problem',
  detail,
  hint,
})
