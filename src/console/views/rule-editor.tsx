// The editor of a rule: a form or JSON, one draft for both.

import { useLayoutEffect, useRef, useState } from 'preact/hooks'

import { isRecord } from '#domain/record'
import type { Json } from '#domain/submission'
import { lineAt, placeOf } from '#console/rules/json-place.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { go } from '#console/state/route.ts'
import { formFrom, ruleFrom } from '#console/state/rule-form.ts'
import type { RuleForm, RuleJson } from '#console/state/rule-form.ts'
import { putRule } from '#console/state/rules.ts'
import type { RuleFault } from '#console/state/rules.ts'
import { writable } from '#console/state/text.ts'
import { t } from '#console/words/words.ts'
import { Field, Form, Radios } from '#console/parts/form.tsx'
import { RuleFields } from './rule-fields.tsx'

const RULE_ID = /^[A-Za-z0-9_:-]{1,64}$/

/** A rule as it is being written: in the form, or as a text. */
export type Draft =
  | { readonly kind: 'form'; readonly form: RuleForm }
  | { readonly kind: 'json'; readonly text: string }

/** The draft that shows a rule whole. */
export function draftOf(rule: RuleJson): Draft {
  const form = formFrom(rule)
  return form === undefined ? { kind: 'json', text: writable(rule) } : { kind: 'form', form }
}

/** The rule of a draft. Throws for a text that is no JSON. */
export function ruleOf(draft: Draft): RuleJson {
  if (draft.kind === 'form') return ruleFrom(draft.form)
  let value: unknown
  try {
    value = JSON.parse(draft.text)
  } catch (error) {
    throw new SyntaxError(t('notJson', { text: error instanceof Error ? error.message : '' }))
  }
  if (!isRecord(value)) throw new SyntaxError(t('notJson', { text: '{…}' }))
  return value as Readonly<Record<string, Json>>
}

interface EditorProps {
  readonly channel: LiveChannel
  /** '' for a rule that is not put yet. */
  readonly id: string
  readonly draft: Draft
  readonly onDraft: (draft: Draft) => void
  readonly fault: RuleFault | undefined
  readonly withRule: (work: (rule: RuleJson) => Promise<unknown>) => Promise<void>
}

export function Editor({ channel, id, draft, onDraft, fault, withRule }: EditorProps) {
  const [newId, setNewId] = useState('')
  const [idProblem, setIdProblem] = useState<string>()
  const [isDone, setDone] = useState<'on' | 'off'>()
  const save = (): Promise<void> | undefined => {
    const ruleId = id === '' ? newId.trim() : id
    const isIdWrong = !RULE_ID.test(ruleId)
    setIdProblem(isIdWrong ? t('thingIdForm') : undefined)
    setDone(undefined)
    if (isIdWrong) return undefined
    return withRule(async (rule) => {
      await putRule(channel.id, ruleId, rule)
      setDone(rule['enabled'] === false ? 'off' : 'on')
      if (id === '') go({ view: 'rule', channelId: channel.id, id: ruleId })
    })
  }
  return (
    <>
      <Kinds draft={draft} onDraft={onDraft} />
      <Form button={t('ruleSave')} onSubmit={save}>
        {id === '' && (
          <Field
            label={t('ruleId')}
            value={newId}
            onValue={setNewId}
            problem={idProblem}
            input={{ class: 'mono', maxLength: 64 }}
          />
        )}
        {draft.kind === 'form' ? (
          <RuleFields
            channel={channel}
            form={draft.form}
            onForm={(form) => onDraft({ kind: 'form', form })}
            fault={fault}
          />
        ) : (
          <JsonText
            text={draft.text}
            onText={(text) => onDraft({ kind: 'json', text })}
            fault={fault}
          />
        )}
      </Form>
      <p role="status">{isDone && t(isDone === 'on' ? 'ruleSaved' : 'ruleSavedOff')}</p>
    </>
  )
}

interface KindsProps {
  readonly draft: Draft
  readonly onDraft: (draft: Draft) => void
}

/** The choice between form and JSON; the draft goes along. */
function Kinds({ draft, onDraft }: KindsProps) {
  const [problem, setProblem] = useState<string>()
  const choose = (kind: Draft['kind']): void => {
    setProblem(undefined)
    if (kind === draft.kind) return
    try {
      const rule = ruleOf(draft)
      const next: Draft = kind === 'json' ? { kind, text: writable(rule) } : draftOf(rule)
      if (next.kind !== kind) setProblem(t('formCannot'))
      onDraft(next)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : '')
    }
  }
  return (
    <Radios
      legend={t('editAs')}
      group="kind"
      names={['form', 'json']}
      chosen={draft.kind}
      textOf={(kind) => t(kind === 'form' ? 'asForm' : 'asJson')}
      onChosen={choose}
    >
      <p role="status">{problem}</p>
    </Radios>
  )
}

interface JsonTextProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly fault: RuleFault | undefined
}

/** The rule as JSON. A fault is told with its line, and the place is selected. */
function JsonText({ text, onText, fault }: JsonTextProps) {
  const box = useRef<HTMLDivElement>(null)
  const at = fault === undefined ? 0 : placeOf(text, 'rule', fault.path)
  useLayoutEffect(() => {
    if (fault === undefined) return
    const end = text.indexOf('\n', at)
    box.current?.querySelector('textarea')?.setSelectionRange(at, end < 0 ? text.length : end)
  }, [fault])
  const problem = fault && t('atLine', { line: lineAt(text, at), ...fault })
  return (
    <div class="field" ref={box}>
      <Field
        label={t('ruleJson')}
        value={text}
        onValue={onText}
        rows={20}
        problem={problem}
        input={{ class: 'mono' }}
      />
    </div>
  )
}
