// A dialog over the page: the browser keeps the focus inside, and Escape closes it.

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

import { t } from '#console/words/words.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  // Before the next key, which belongs to the dialog.
  useLayoutEffect(() => {
    element.current?.showModal()
  }, [])
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onClose={onClose}>
      <header>
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="quiet" onClick={() => element.current?.close()}>
          {t('close')}
        </button>
      </header>
      {children}
    </dialog>
  )
}
