// Markdown of Messages as data: blocks, and the spans in them. Reading a text takes work in
// proportion to its length, whatever it repeats.
//
//   # heading   - list   1. list   > quote   ``` code   **bold**  *italic*  `code`  [text](link)
//   | a table | of cells |, with a second line of | --- | --- |
//
// Invariants:
//   markdown-blocks/1. In no pattern may a repetition match what the one behind it may match, and
//      none stands in another: there is one way to match a text, and no second one is tried.

/** A part of a line. The text and the address are a stranger's. */
export type Span =
  | { readonly kind: 'text' | 'code' | 'strong' | 'emphasis'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string }
  | { readonly kind: 'image'; readonly href: string }

export type Block =
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'heading' | 'quote' | 'paragraph'; readonly spans: readonly Span[] }
  | {
      readonly kind: 'list'
      readonly isNumbered: boolean
      readonly items: readonly (readonly Span[])[]
    }
  | {
      readonly kind: 'table'
      readonly head: readonly (readonly Span[])[]
      readonly rows: readonly (readonly (readonly Span[])[])[]
    }

const FENCE = '```'
const MARKS = /^#{1,6}(?=\s)/
const LIST = /^\s{0,3}(?:[-*+]|\d{1,9}[.)])\s+/
const NUMBERED = /^\s*\d/
const QUOTE = /^>\s?/
const RULED = /^[|:\s-]+$/
const COLUMNS_MAX = 32

/** The blocks of a text that is split into its lines. */
export function blocksOf(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = []
  let at = 0
  const takeWhile = (test: (line: string) => boolean): readonly string[] => {
    const from = at
    while (at < lines.length && test(lines[at] ?? '')) at += 1
    return lines.slice(from, at)
  }
  while (at < lines.length) {
    const line = lines[at] ?? ''
    if (line.startsWith(FENCE)) {
      at += 1
      const code = takeWhile((each) => !each.startsWith(FENCE))
      at += 1
      blocks.push({ kind: 'code', text: code.join('\n') })
    } else if (MARKS.test(line)) {
      at += 1
      blocks.push({ kind: 'heading', spans: spansOf(headingOf(line)) })
    } else if (LIST.test(line)) {
      const items = takeWhile((each) => LIST.test(each)).map((each) => each.replace(LIST, ''))
      blocks.push({ kind: 'list', isNumbered: NUMBERED.test(line), items: items.map(spansOf) })
    } else if (QUOTE.test(line)) {
      const quoted = takeWhile((each) => QUOTE.test(each)).map((each) => each.replace(QUOTE, ''))
      blocks.push({ kind: 'quote', spans: spansOf(quoted.join('\n')) })
    } else if (isTable(line, lines[at + 1])) {
      at += 2
      const rows = takeWhile((each) => each.includes('|') && isPlain(each))
      blocks.push({ kind: 'table', head: cellsOf(line), rows: rows.map(cellsOf) })
    } else if (line.trim() === '') at += 1
    else blocks.push({ kind: 'paragraph', spans: spansOf(takeWhile(isPlain).join('\n')) })
  }
  return blocks
}

const isPlain = (line: string): boolean =>
  line.trim() !== '' &&
  !line.startsWith(FENCE) &&
  !MARKS.test(line) &&
  !LIST.test(line) &&
  !QUOTE.test(line)

/** A table begins with a line of cells, and one of as many rules. */
const isTable = (line: string, next = ''): boolean =>
  line.includes('|') &&
  next.includes('-') &&
  RULED.test(next) &&
  cellTexts(next).every((cell) => cell.includes('-')) &&
  cellTexts(next).length === cellTexts(line).length

const cellTexts = (line: string): readonly string[] => {
  const text = line.trim()
  const inner = text.slice(text.startsWith('|') ? 1 : 0, text.endsWith('|') ? -1 : undefined)
  return inner.split('|', COLUMNS_MAX).map((cell) => cell.trim())
}

const cellsOf = (line: string): readonly (readonly Span[])[] => cellTexts(line).map(spansOf)

/** The words of a heading, without the marks around them. */
function headingOf(line: string): string {
  let end = line.length
  while (line[end - 1] === '#') end -= 1
  return line.slice(0, end).replace(MARKS, '').trim() // markdown-blocks/1
}

const SPAN = new RegExp(
  [
    '`([^`\\n]+)`',
    '\\*\\*([^*\\n]+)\\*\\*',
    '(?<![\\w*])[*_]([^*_\\n]+)[*_](?![\\w*])',
    '(!?)\\[([^[\\]\\n]{1,500})\\]\\(([^()\\s]{1,2048})\\)',
    '(https?:\\/\\/[^\\s<>()]{1,2048})',
  ].join('|'),
  'g',
)

function spansOf(text: string): readonly Span[] {
  const spans: Span[] = []
  let end = 0
  for (const match of text.matchAll(SPAN)) {
    if (match.index > end) spans.push({ kind: 'text', text: text.slice(end, match.index) })
    end = match.index + match[0].length
    spans.push(spanOf(match))
  }
  if (end < text.length) spans.push({ kind: 'text', text: text.slice(end) })
  return spans
}

function spanOf([
  ,
  code,
  strong,
  emphasis,
  sign,
  linked = '',
  href = '',
  bare = '',
]: RegExpExecArray): Span {
  if (code !== undefined) return { kind: 'code', text: code }
  if (strong !== undefined) return { kind: 'strong', text: strong }
  if (emphasis !== undefined) return { kind: 'emphasis', text: emphasis }
  if (sign === '!') return { kind: 'image', href }
  if (sign === '') return { kind: 'link', text: linked, href }
  return { kind: 'link', text: bare, href: bare }
}
