// What views have in common: cards, what a read finds and why it failed, and lists that show more.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

import { sentenceOf, t } from '#console/words/words.ts'

interface CardProps {
  readonly title: string
  readonly children: ComponentChildren
}

export const Card = ({ title, children }: CardProps) => (
  <section class="card">
    <h2>{title}</h2>
    {children}
  </section>
)

/** What went wrong; nothing without a text. */
export const Problem = ({ text }: { readonly text: string | undefined }) =>
  text === undefined ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  )

/** Why something failed; nothing for undefined. */
export const Failure = ({ error }: { readonly error: unknown }) => (
  <Problem text={error === undefined ? undefined : sentenceOf(error)} />
)

/**
 * What a read finds, and why the last one failed. It begins anew when an input changes, and is
 * given up then or with the view; a read that is undefined finds nothing.
 */
export function useFound<Found>(
  read: (ended: AbortSignal) => Promise<Found> | undefined,
  inputs: readonly unknown[],
) {
  const [found, setFound] = useState<Found>()
  const [failure, setFailure] = useState<unknown>()
  useEffect(() => {
    const ended = new AbortController()
    read(ended.signal)?.then(
      (now) => {
        setFound(now)
        setFailure(undefined)
      },
      (error: unknown) => !ended.signal.aborted && setFailure(error),
    )
    return () => ended.abort()
  }, inputs)
  return { found, failure, setFound }
}

/** The first of some items, and a button for more of them: as many again, or as `next` says. */
export function useSome<Item>(
  items: readonly Item[],
  count: number,
  next = (shown: number): number => shown + count,
) {
  const [shown, setShown] = useState(count)
  const more = items.length > shown && (
    <button type="button" onClick={() => setShown(next(shown))}>
      {t('more')}
    </button>
  )
  return { some: items.slice(0, shown), more }
}
