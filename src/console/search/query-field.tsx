// A field for the text of a query, with what may stand at the caret in a list below it.

import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'

import { completionsAt } from '#src/client/query/completions'
import type { Completion, Completions, Known } from '#src/client/query/completions'
import { visible } from '#console/state/text.ts'

interface QueryFieldProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onValue: (value: string) => void
  /** A sentence about what is wrong with the text. */
  readonly problem: string | undefined
  /** What is known of the Things; asked for when something is typed. */
  readonly known: () => Known
}

const SHOWN_MAX = 8
const CLOSED: Completions = { from: 0, items: [] }

/** What is offered, the one that is chosen (-1 for none), and what a person does with it. */
function useCompletions({ value, onValue, known }: QueryFieldProps) {
  const input = useRef<HTMLInputElement>(null)
  const caret = useRef<number>(undefined)
  const [{ from, items }, setOffered] = useState(CLOSED)
  const [chosen, setChosen] = useState(-1)
  // Before the next key: a caret that moves later would part what is typed meanwhile.
  useLayoutEffect(() => {
    if (caret.current === undefined) return
    input.current?.setSelectionRange(caret.current, caret.current)
    caret.current = undefined
  }, [value])
  const close = (): void => setOffered(CLOSED)
  const offer = (): void => {
    const { value: text = '', selectionStart } = input.current ?? {}
    const offered = completionsAt(text, selectionStart ?? text.length, known())
    setOffered({ ...offered, items: offered.items.slice(0, SHOWN_MAX) })
    setChosen(-1)
  }
  const take = ({ insert }: Completion): void => {
    const end = input.current?.selectionStart ?? value.length
    caret.current = from + insert.length
    onValue(value.slice(0, from) + insert + value.slice(end).trimStart())
    close()
  }
  const onKey = (event: KeyboardEvent): void => {
    const { key } = event
    const isOpen = items.length > 0
    const item = items[chosen]
    if (key === 'ArrowDown' && !isOpen) offer()
    else if (!isOpen) return
    else if (key === 'Escape') close()
    else if (key === 'ArrowDown') setChosen((chosen + 1) % items.length)
    else if (key === 'ArrowUp') setChosen((chosen < 1 ? items.length : chosen) - 1)
    else if ((key === 'Enter' || key === 'Tab') && item !== undefined) take(item)
    else return
    event.preventDefault()
  }
  return { input, items, chosen, close, offer, take, onKey }
}

export function QueryField(props: QueryFieldProps) {
  const { label, placeholder, value, onValue, problem } = props
  const id = useId()
  const { input, items, chosen, close, offer, take, onKey } = useCompletions(props)
  const isOpen = items.length > 0
  return (
    <div class="field query">
      <label for={id}>{label}</label>
      <input
        ref={input}
        id={id}
        type="search"
        list={undefined}
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={chosen < 0 ? undefined : `${id}-${chosen}`}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${id}-problem`}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder={placeholder}
        value={value}
        onInput={(event) => {
          onValue(event.currentTarget.value)
          offer()
        }}
        onKeyDown={onKey}
        onBlur={close}
      />
      <ul id={`${id}-list`} role="listbox" aria-label={label} hidden={!isOpen}>
        {items.map((item, at) => (
          <li
            key={item.label}
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === chosen}
            // The field keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(item)}
          >
            <bdi>{visible(item.label)}</bdi>
          </li>
        ))}
      </ul>
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  )
}
