// What Markdown becomes, and that no text of a stranger keeps a page busy: whatever a text repeats,
// reading it ends. With more than one way to match a repetition the longest ones would take hours.

import test from 'ava'

import { blocksOf } from '#console/parts/markdown-blocks.ts'
import type { Block, Span } from '#console/parts/markdown-blocks.ts'
import { finderOf, groupOf, inNameOrder } from '#console/search/search.ts'
import { linkTarget, visible } from '#console/state/text.ts'
import { shown } from '#console/state/units.ts'
import { speak, t as words } from '#console/words/words.ts'

test.before(() => speak('en'))

const plain = (text: string): Span => ({ kind: 'text', text })
const heading = (text: string): Block => ({ kind: 'heading', spans: [plain(text)] })
const paragraph = (...spans: readonly Span[]): Block => ({ kind: 'paragraph', spans })

const TEXTS: readonly (readonly [text: string, blocks: readonly Block[]])[] = [
  ['# One', [heading('One')]],
  ['######  Six  ##', [heading('Six')]],
  ['# a # b#', [heading('a # b')]],
  ['# #', [{ kind: 'heading', spans: [] }]],
  ['#\u2028Two', [heading('Two')]],
  ['####### seven', [paragraph(plain('####### seven'))]],
  ['#tag', [paragraph(plain('#tag'))]],
  ['a\nb\n\n\nc', [paragraph(plain('a\nb')), paragraph(plain('c'))]],
  ['```\n# a\n```\nb', [{ kind: 'code', text: '# a' }, paragraph(plain('b'))]],
  ['```\na', [{ kind: 'code', text: 'a' }]],
  [
    '| a | b |\n|---|:-:|\n| 1 | **2** |\nend',
    [
      {
        kind: 'table',
        head: [[plain('a')], [plain('b')]],
        rows: [[[plain('1')], [{ kind: 'strong', text: '2' }]]],
      },
      paragraph(plain('end')),
    ],
  ],
  ['a | b\n---', [paragraph(plain('a | b\n---'))]],
  ['> a\n>b', [{ kind: 'quote', spans: [plain('a\nb')] }]],
  ['- a\n* b', [{ kind: 'list', isNumbered: false, items: [[plain('a')], [plain('b')]] }]],
  [' 1.  a\n2) b', [{ kind: 'list', isNumbered: true, items: [[plain('a')], [plain('b')]] }]],
  ['a\n# b', [paragraph(plain('a')), heading('b')]],
  [
    'a **b** *c* _d_ `e`',
    [
      paragraph(
        plain('a '),
        { kind: 'strong', text: 'b' },
        plain(' '),
        { kind: 'emphasis', text: 'c' },
        plain(' '),
        { kind: 'emphasis', text: 'd' },
        plain(' '),
        { kind: 'code', text: 'e' },
      ),
    ],
  ],
  ['snake_case_name', [paragraph(plain('snake_case_name'))]],
  [
    '[a](https://a.example) ![b](https://b.example)',
    [
      paragraph({ kind: 'link', text: 'a', href: 'https://a.example' }, plain(' '), {
        kind: 'image',
        href: 'https://b.example',
      }),
    ],
  ],
  [
    'https://a.example.',
    [paragraph({ kind: 'link', text: 'https://a.example.', href: 'https://a.example.' })],
  ],
]

for (const [text, blocks] of TEXTS) {
  test(`${JSON.stringify(text)} becomes ${blocks.map(({ kind }) => kind).join(', ')}`, (t) => {
    t.deepEqual(blocksOf(text.split('\n')), blocks)
  })
}

/** As long as the longest text that the console reads as Markdown. */
const LENGTH = 20_000
/** So long that even a square of its length would not end. */
const FAR_LENGTH = 200_000
/** Longer than a title may be. */
const TITLE_LENGTH = 1_000

// A line separator is a space to `\s`, and no character to `.`: patterns fail behind it.
const FAILING = 'x\u2028y'
const SPACED = [' ', '\t', '\u2028', 'a ', '1. ', '- ', '# ', '#\u2028', '> ', 'a>1 ']
const SIGNS =
  'a 0 1. # > * ** **a *a _ _a ` `a ``` [ [a ]( [a]( ![ ![a]( ( ) https:// http a= = is: : - ' +
  '{ {a {a} \\ " < & \u202e \ud83d'
const UNITS = [...SPACED, ...SIGNS.split(' ')]
const FRAMES: readonly (readonly [before: string, after: string])[] = [
  ['', ''],
  ['', FAILING],
  ['# ', FAILING],
  ['- ', FAILING],
  ['> ', FAILING],
  ['a', 'a'],
]

const FINDER = finderOf('boiler temperature>20')

const repeated = (unit: string, length: number): string =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length)

const nameOf = (unit: string): string =>
  unit.replace(/[^!-~]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`)

for (const unit of UNITS) {
  test(`a text that repeats ${nameOf(unit)} is read to its end`, (t) => {
    // markdown-blocks/1
    for (const [before, after] of FRAMES) {
      const text = before + repeated(unit, LENGTH) + after
      t.true(lengthOf(blocksOf([text])) <= text.length)
      const lines = text.match(/[^]{1,50}/g) ?? []
      t.true(lengthOf(blocksOf(lines)) < text.length + lines.length)
      const title = text.slice(0, TITLE_LENGTH)
      const thing = { id: text, state: 'active', rev: 1, seq: 1, fields: { title } } as const
      const whole = { ...thing, attrs: {}, attrTimes: {}, externalIds: {} }
      for (const finder of [FINDER, finderOf(text)]) {
        if (finder.kind === 'finder') t.is(typeof finder.finds(whole), 'boolean')
      }
      t.deepEqual(inNameOrder([], new Map([[text, 1]])), [text])
      t.true(text.startsWith(groupOf(text)))
      t.true(shown(text, 1, 'en').text === '1')
      t.true(visible(text).length >= text.length)
      t.notThrows(() => linkTarget(text))
      t.true(words('group', { name: text, n: 1 }).includes(text))
    }
    const far = `# ${repeated(unit, FAR_LENGTH)}${FAILING}`
    t.true(lengthOf(blocksOf([far])) <= far.length)
    t.is(typeof finderOf(far).kind, 'string')
  })
}

/** Characters of all blocks. */
const lengthOf = (blocks: readonly Block[]): number =>
  blocks.reduce((sum, block) => {
    if (block.kind === 'code') return sum + block.text.length
    const spans =
      block.kind === 'list'
        ? block.items.flat()
        : block.kind === 'table'
          ? [...block.head, ...block.rows.flat()].flat()
          : block.spans
    return spans.reduce((all, span) => all + ('text' in span ? span.text.length : 1), sum)
  }, 0)
