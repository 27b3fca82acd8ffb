// Texts of strangers, and buttons that copy a text.

import { useState } from 'preact/hooks'

import { afterDelay } from '#console/state/clock.ts'
import { cut, linkTarget, visible } from '#console/state/text.ts'
import { t } from '#console/words/words.ts'

const SHOWN_MAX = 2_000
/** Characters of a heading. */
export const TITLE_MAX = 160

/** A text of somebody else, whose direction and control characters stay within it. */
export const Said = ({ text }: { readonly text: string }) => <bdi>{visible(text)}</bdi>

interface LongTextProps {
  readonly text: string
  /** Characters that are shown at first. */
  readonly max?: number
}

/** A text that may be very long; a button shows all of it. */
export function LongText({ text, max = SHOWN_MAX }: LongTextProps) {
  const [isWhole, setWhole] = useState(false)
  if (text.length <= max || isWhole) return <Said text={text} />
  return (
    <>
      <Said text={cut(text, max)} />{' '}
      <button type="button" class="quiet" onClick={() => setWhole(true)}>
        {t('all')}
      </button>
    </>
  )
}

/** A link to another site; its text alone where the address must not be led to. */
export function Outward({ href, text }: { readonly href: string; readonly text: string }) {
  const target = linkTarget(href)
  if (target === undefined) return <Said text={text} />
  return (
    <a href={target} target="_blank" rel="noopener noreferrer nofollow">
      <Said text={text} />
    </a>
  )
}

/** The host of an address, for a link that says where it leads. */
export const hostOf = (href: string): string => {
  const url = URL.parse(href)
  return url === null ? href : url.host || url.href
}

interface CodeProps {
  readonly text: string
  /** What it is, for who does not see it. */
  readonly label: string
}

/** A text of several lines as it is, which a keyboard can scroll. */
export const Code = ({ text, label }: CodeProps) => (
  <pre class="command" tabIndex={0} role="region" aria-label={label}>
    {text}
  </pre>
)

const COPIED_MS = 1_500

export function Copy({ text, label }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await copyText(text)
    setCopied(true)
    afterDelay(COPIED_MS, () => setCopied(false))
  }
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      {isCopied ? t('copied') : (label ?? t('copy'))}
    </button>
  )
}

/** Browsers give the clipboard to pages of https alone; a selection works everywhere. */
async function copyText(text: string): Promise<void> {
  if ('clipboard' in navigator) return navigator.clipboard.writeText(text).catch(() => {})
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}
