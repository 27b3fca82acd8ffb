// A button that opens a small panel. Escape, a choice elsewhere and the focus that leaves it close
// it.

import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'

interface MenuProps {
  readonly label: string
  readonly class: string
  /** What the button shows. */
  readonly face: ComponentChildren
  readonly isCurrent?: boolean
  readonly children: (close: () => void) => ComponentChildren
}

export function Menu({ label, class: name, face, isCurrent, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const close = (): void => setOpen(false)
  return (
    <div
      class={`menu ${name}`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return
        close()
        button.current?.focus()
      }}
      onFocusOut={(event) => {
        const { relatedTarget: next, currentTarget: menu } = event
        if (next instanceof Node && !menu.contains(next)) close()
      }}
    >
      <button
        type="button"
        ref={button}
        aria-label={label}
        aria-expanded={isOpen}
        aria-current={isCurrent === true ? 'page' : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {face}
      </button>
      {isOpen && <div class="panel">{children(close)}</div>}
    </div>
  )
}
