// A button for what cannot be undone: it asks first, in a dialog.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'

interface SureProps {
  readonly button: string
  readonly question: string
  readonly onSure: () => Promise<unknown>
  readonly isDanger?: boolean
  readonly isQuiet?: boolean
  readonly children?: ComponentChildren
}

export function Sure({ button, question, onSure, isDanger, isQuiet, children }: SureProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        type="button"
        class={isDanger === true ? 'danger' : isQuiet === true ? 'quiet' : undefined}
        onClick={() => setOpen(true)}
      >
        {button}
      </button>
      {isOpen && (
        <Dialog title={button} onClose={() => setOpen(false)}>
          <Form
            button={button}
            isDanger={isDanger ?? false}
            onSubmit={() => onSure().then(() => setOpen(false))}
          >
            <p>{question}</p>
            {children}
          </Form>
        </Dialog>
      )}
    </>
  )
}
