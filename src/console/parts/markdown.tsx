// Markdown of Messages as elements of the page. Text goes in as text: no markup of a stranger ever
// becomes part of the page, and a link leads to the web or nowhere.
//
//   # heading   - list   1. list   > quote   ``` code   **bold**  *italic*  `code`  [text](link)

import type { ComponentChildren } from 'preact'

import { LongText, Outward, Said, hostOf } from './text.tsx'
import { t } from '#console/words/words.ts'

const LINES_MAX = 400

export function Markdown({ text }: { readonly text: string }) {
  const lines = text.split('\n')
  if (lines.length > LINES_MAX || text.length > 20_000) {
    return (
      <p>
        <LongText text={text} />
      </p>
    )
  }
  return <>{blocksOf(lines)}</>
}

const LIST = /^\s{0,3}(?:[-*+]|\d{1,9}[.)])\s+/
const HEADING = /^#{1,6}\s+(.*?)\s*#*$/
const QUOTE = /^>\s?/

function blocksOf(lines: readonly string[]): ComponentChildren[] {
  const blocks: ComponentChildren[] = []
  let at = 0
  const takeWhile = (test: (line: string) => boolean): string[] => {
    const from = at
    while (at < lines.length && test(lines[at] ?? '')) at += 1
    return lines.slice(from, at)
  }
  while (at < lines.length) {
    const line = lines[at] ?? ''
    const heading = HEADING.exec(line)?.[1]
    if (line.startsWith('```')) {
      at += 1
      const code = takeWhile((each) => !each.startsWith('```'))
      at += 1
      blocks.push(
        <pre>
          <code>
            <Said text={code.join('\n')} />
          </code>
        </pre>,
      )
    } else if (heading !== undefined) {
      at += 1
      blocks.push(
        <p>
          <strong>{spansOf(heading)}</strong>
        </p>,
      )
    } else if (LIST.test(line)) {
      const isNumbered = /^\s*\d/.test(line)
      const items = takeWhile((each) => LIST.test(each)).map((item, index) => (
        <li key={index}>{spansOf(item.replace(LIST, ''))}</li>
      ))
      blocks.push(isNumbered ? <ol>{items}</ol> : <ul>{items}</ul>)
    } else if (QUOTE.test(line)) {
      const quoted = takeWhile((each) => QUOTE.test(each)).map((each) => each.replace(QUOTE, ''))
      blocks.push(<blockquote>{spansOf(quoted.join('\n'))}</blockquote>)
    } else if (line.trim() === '') at += 1
    else {
      const isPlain = (each: string): boolean =>
        each.trim() !== '' && !/^(```|>)/.test(each) && !HEADING.test(each) && !LIST.test(each)
      blocks.push(<p>{spansOf(takeWhile(isPlain).join('\n'))}</p>)
    }
  }
  return blocks
}

// No pattern can be tried in more than one way at a place: a hostile text costs no more than its
// length.
const SPAN = new RegExp(
  [
    '`([^`\\n]+)`',
    '\\*\\*([^*\\n]+)\\*\\*',
    '(?<![\\w*])[*_]([^*_\\n]+)[*_](?![\\w*])',
    '!?\\[([^[\\]\\n]{1,500})\\]\\(([^()\\s]{1,2048})\\)',
    '(https?:\\/\\/[^\\s<>()]{1,2048})',
  ].join('|'),
  'g',
)

function spansOf(text: string): ComponentChildren[] {
  const spans: ComponentChildren[] = []
  let end = 0
  for (const match of text.matchAll(SPAN)) {
    const [whole, code, bold, italic, linked, href, bare] = match
    if (match.index > end) spans.push(<Said text={text.slice(end, match.index)} />)
    end = match.index + whole.length
    if (code !== undefined)
      spans.push(
        <code>
          <Said text={code} />
        </code>,
      )
    else if (bold !== undefined)
      spans.push(
        <strong>
          <Said text={bold} />
        </strong>,
      )
    else if (italic !== undefined)
      spans.push(
        <em>
          <Said text={italic} />
        </em>,
      )
    else if (bare !== undefined) spans.push(<Outward href={bare} text={bare} />)
    else if (whole.startsWith('!')) {
      const label = t('image', { host: hostOf(href ?? '') })
      spans.push(<Outward href={href ?? ''} text={label} />)
    } else spans.push(<Outward href={href ?? ''} text={linked ?? ''} />)
  }
  if (end < text.length) spans.push(<Said text={text.slice(end)} />)
  return spans
}
