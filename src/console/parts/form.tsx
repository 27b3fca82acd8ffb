// Forms: a labelled field, a form that tells what went wrong, and an empty place that says what to
// do.

import type { ComponentChildren, TargetedEvent } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'

import { visible } from '#console/state/text.ts'
import { sentenceOf, t } from '#console/words/words.ts'
import { Problem } from './page.tsx'

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly hint?: string
  /** A sentence about what is wrong with the value. */
  readonly problem?: string | undefined
  readonly isSecret?: boolean
  readonly rows?: number
  readonly input?: {
    readonly type?: 'search' | 'text' | 'datetime-local' | 'time'
    readonly placeholder?: string
    readonly maxLength?: number
    readonly autocomplete?: string
    readonly class?: string
    readonly autofocus?: boolean
  }
}

export function Field(props: FieldProps) {
  const { label, value, onValue, hint, problem, isSecret, rows, input } = props
  const [isShown, setShown] = useState(false)
  const id = useId()
  const notes = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  const shared = {
    id,
    value,
    'aria-describedby': notes === '' ? undefined : notes,
    'aria-invalid': problem !== undefined,
  }
  const take = (event: TargetedEvent<HTMLInputElement | HTMLTextAreaElement>): void =>
    onValue(event.currentTarget.value)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows === undefined ? (
        <span class="with-button">
          <input
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            {...shared}
            {...({ ...input, type: typeOf(props, isShown) } as object)}
            onInput={take}
          />
          {isSecret === true && (
            <button
              type="button"
              class="quiet"
              aria-pressed={isShown}
              onClick={() => setShown(!isShown)}
            >
              {t(isShown ? 'hide' : 'show')}
            </button>
          )}
        </span>
      ) : (
        <textarea {...shared} rows={rows} class={input?.class} spellcheck={false} onInput={take} />
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  )
}

const typeOf = ({ isSecret, input }: FieldProps, isShown: boolean): string =>
  isSecret === true && !isShown ? 'password' : (input?.type ?? 'text')

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [value: Value, text: string])[]
  readonly onValue: (value: Value) => void
  /** True for a label that only screen readers need. */
  readonly isQuiet?: boolean
}

export function Choice<Value extends string>(props: ChoiceProps<Value>) {
  const { label, value, options, onValue, isQuiet } = props
  const id = useId()
  return (
    <div class="field choice">
      <label for={id} class={isQuiet === true ? 'unseen' : undefined}>
        {label}
      </label>
      <select
        id={id}
        value={value}
        onChange={(event) => {
          const found = options.find(([option]) => option === event.currentTarget.value)
          if (found !== undefined) onValue(found[0])
        }}
      >
        {options.map(([option, text]) => (
          <option value={option} key={option} selected={option === value}>
            {visible(text)}
          </option>
        ))}
      </select>
    </div>
  )
}

interface CheckProps {
  readonly label: string
  readonly isChecked: boolean
  readonly onChecked: (isChecked: boolean) => void
}

export const Check = ({ label, isChecked, onChecked }: CheckProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={isChecked}
      onChange={(event) => onChecked(event.currentTarget.checked)}
    />
    {label}
  </label>
)

interface ChosenProps<Name extends string> {
  readonly names: readonly Name[]
  readonly chosen: readonly Name[]
  readonly textOf: (name: Name) => string
  readonly onChosen: (chosen: readonly Name[]) => void
}

/** Names of which some are chosen, in their order. */
export const Chosen = <Name extends string>(props: ChosenProps<Name>) => {
  const { names, chosen, textOf, onChosen } = props
  return (
    <div class="models">
      {names.map((name) => (
        <Check
          key={name}
          label={textOf(name)}
          isChecked={chosen.includes(name)}
          onChecked={(isChecked) =>
            onChosen(names.filter((each) => (each === name ? isChecked : chosen.includes(each))))
          }
        />
      ))}
    </div>
  )
}

interface RadiosProps<Name extends string> {
  readonly legend: string
  /** Names the radio buttons that belong together. */
  readonly group: string
  readonly names: readonly Name[]
  readonly chosen: Name
  readonly textOf: (name: Name) => string
  readonly onChosen: (chosen: Name) => void
  readonly children?: ComponentChildren
}

/** Names of which one is chosen. */
export const Radios = <Name extends string>(props: RadiosProps<Name>) => {
  const { legend, group, names, chosen, textOf, onChosen, children } = props
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div class="models">
        {names.map((name) => (
          <label class="check" key={name}>
            <input
              type="radio"
              name={group}
              checked={name === chosen}
              onChange={() => onChosen(name)}
            />
            {textOf(name)}
          </label>
        ))}
      </div>
      {children}
    </fieldset>
  )
}

interface FormProps {
  readonly button: string
  readonly onSubmit: () => Promise<unknown> | undefined
  readonly children: ComponentChildren
  readonly isDanger?: boolean
  /** True where another action stands before it. */
  readonly isSecond?: boolean
}

/** A form that is sent once at a time, and says why it failed. */
export function Form({ button, onSubmit, children, isDanger, isSecond }: FormProps) {
  const [failure, setFailure] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const alive = useRef(true)
  const element = useRef<HTMLFormElement>(null)
  // Before the next key, which belongs to the field with the fault.
  useLayoutEffect(() => {
    if (failure === undefined) return
    element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [failure])
  const send = async (): Promise<void> => {
    if (isBusy) return
    setFailure(undefined)
    setBusy(true)
    try {
      await onSubmit()
    } catch (error) {
      setFailure(sentenceOf(error))
    } finally {
      if (alive.current) setBusy(false)
    }
  }
  return (
    <form
      ref={element}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {children}
      <Problem text={failure} />
      <button
        type="submit"
        class={isDanger === true ? 'danger' : isSecond === true ? undefined : 'primary'}
        disabled={isBusy}
      >
        {button}
      </button>
    </form>
  )
}

interface EmptyProps {
  readonly title: string
  readonly text?: string
  readonly children?: ComponentChildren
}

export const Empty = ({ title, text, children }: EmptyProps) => (
  <div class="empty">
    <h2>{title}</h2>
    {text !== undefined && <p>{text}</p>}
    {children}
  </div>
)
