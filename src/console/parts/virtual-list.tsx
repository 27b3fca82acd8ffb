// A list that draws only the rows that can be seen: 10,000 rows cost as much as forty.

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

const BEYOND = 6

interface VirtualListProps {
  readonly label: string
  readonly count: number
  readonly rowHeight: number
  readonly keyOf: (index: number) => string
  readonly children: (index: number) => ComponentChildren
}

export function VirtualList({ label, count, rowHeight, keyOf, children }: VirtualListProps) {
  const box = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState({ top: 0, height: 800 })
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const measure = (): void =>
      setSeen((before) => {
        const [top, height] = [element.scrollTop, element.clientHeight]
        const isFar = Math.abs(before.top - top) >= rowHeight || before.height !== height
        return isFar ? { top, height } : before
      })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    measure()
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [rowHeight])
  const first = Math.max(0, Math.floor(seen.top / rowHeight) - BEYOND)
  const last = Math.min(count, Math.ceil((seen.top + seen.height) / rowHeight) + BEYOND)
  const rows = []
  for (let index = first; index < last; index += 1) {
    rows.push(
      <li
        key={keyOf(index)}
        aria-setsize={count}
        aria-posinset={index + 1}
        style={{ transform: `translateY(${index * rowHeight}px)`, height: `${rowHeight}px` }}
      >
        {children(index)}
      </li>,
    )
  }
  return (
    // The box scrolls by the keyboard, too.
    <div class="virtual" ref={box} tabIndex={0} role="region" aria-label={label}>
      <ul style={{ height: `${count * rowHeight}px` }}>{rows}</ul>
    </div>
  )
}
