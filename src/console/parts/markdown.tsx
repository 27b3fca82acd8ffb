// Markdown of Messages as elements of the page. Text goes in as text: no markup of a stranger ever
// becomes part of the page, and a link leads to the web or nowhere.

import type { ComponentChildren } from 'preact'

import { blocksOf } from './markdown-blocks.ts'
import type { Block, Span } from './markdown-blocks.ts'
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
  return <>{blocksOf(lines).map(drawn)}</>
}

function drawn(block: Block): ComponentChildren {
  switch (block.kind) {
    case 'code':
      return (
        <pre>
          <code>
            <Said text={block.text} />
          </code>
        </pre>
      )
    case 'heading':
      return (
        <p>
          <strong>{block.spans.map(drawnSpan)}</strong>
        </p>
      )
    case 'quote':
      return <blockquote>{block.spans.map(drawnSpan)}</blockquote>
    case 'paragraph':
      return <p>{block.spans.map(drawnSpan)}</p>
    case 'table':
      return (
        // A wide one scrolls by the keyboard, too.
        <div class="table" tabIndex={0} role="group">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <th key={index}>{cell.map(drawnSpan)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, column) => (
                    <td key={column}>{cell.map(drawnSpan)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )
    case 'list': {
      const items = block.items.map((item, index) => <li key={index}>{item.map(drawnSpan)}</li>)
      return block.isNumbered ? <ol>{items}</ol> : <ul>{items}</ul>
    }
  }
}

function drawnSpan(span: Span): ComponentChildren {
  switch (span.kind) {
    case 'text':
      return <Said text={span.text} />
    case 'code':
      return (
        <code>
          <Said text={span.text} />
        </code>
      )
    case 'strong':
      return (
        <strong>
          <Said text={span.text} />
        </strong>
      )
    case 'emphasis':
      return (
        <em>
          <Said text={span.text} />
        </em>
      )
    case 'link':
      return <Outward href={span.href} text={span.text} />
    case 'image':
      return <Outward href={span.href} text={t('image', { host: hostOf(span.href) })} />
  }
}
