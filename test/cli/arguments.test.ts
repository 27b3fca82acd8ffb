// Goal: arguments become values, or one sentence that names the problem and repeats no value.

import test from 'ava'

import { divide, similarTo, valuesOf } from '#src/cli/arguments'
import { UsageError } from '#src/cli/endings'
import { whole } from '#src/cli/values'
import {
  flag,
  optional,
  parameter,
  required,
  rest,
  text,
  texts,
  withDefault,
} from '#src/cli/command'
import { split } from '#test/support/command-line'

const DEFINITION = {
  options: {
    title: required(text('<title>', 'the title')),
    newName: text('<name>', 'a name of two words'),
    tag: texts('<tag>', 'a tag'),
    limit: withDefault(whole('<count>', 1, 200, 'how many'), 50),
    all: flag('all'),
  },
  parameters: { id: parameter('<id>', 'the id'), pairs: rest('[pair...]', 'pairs') },
}

const read = (words: string): Readonly<Record<string, unknown>> =>
  valuesOf(divide(split(words), DEFINITION.options), DEFINITION)

const FALLBACKS = { newName: undefined, tag: undefined, limit: 50, all: undefined }

const rows: [words: string, values: Readonly<Record<string, unknown>>][] = [
  ['--title t i', { title: 't', id: 'i', pairs: [] }],
  ['i a=1 b=2 --title=t', { title: 't', id: 'i', pairs: ['a=1', 'b=2'] }],
  ['--title a --title b i', { title: 'b', id: 'i', pairs: [] }],
  ['--tag a --title t --tag b i', { title: 't', tag: ['a', 'b'], id: 'i', pairs: [] }],
  ['--title t --new-name n --all i', { title: 't', newName: 'n', all: true, id: 'i', pairs: [] }],
  ['--title t --limit 1 i', { title: 't', limit: 1, id: 'i', pairs: [] }],
  ['--title t --limit 200 i', { title: 't', limit: 200, id: 'i', pairs: [] }],
  ['--title=-t i', { title: '-t', id: 'i', pairs: [] }],
  ['--title -5 i', { title: '-5', id: 'i', pairs: [] }],
  ['--title - i', { title: '-', id: 'i', pairs: [] }],
  ['--title t -- i --all', { title: 't', id: 'i', pairs: ['--all'] }],
  ["--title '' i", { title: '', id: 'i', pairs: [] }],
]

test('arguments become the values of options and parameters', (t) => {
  for (const [words, values] of rows) {
    t.deepEqual(read(words), { ...FALLBACKS, ...values }, words)
  }
})

const refused: [words: string, sentence: RegExp][] = [
  ['i', /^--title <title> is required$/],
  ['--title t', /^<id> is missing: the id$/],
  ['--title', /^--title needs <title>$/],
  ['--title --all i', /^--title needs <title>; .*--title=…$/],
  ['--all=secret --title t i', /^--all takes no value$/],
  ['--title t --limit 0 i', /^--limit: allowed: a whole number from 1 to 200$/],
  ['--title t --limit 201 i', /^--limit: allowed/],
  ['--title t --limit secret i', /^--limit: allowed/],
  ['--titel=secret i', /^unknown option --titel; did you mean --title\?$/],
  ['--nonsense secret i', /^unknown option --nonsense$/],
  ['-xsecret i', /^unknown option -x$/],
]

test('arguments/1: the error for an unreadable value names its option and repeats no value', (t) => {
  for (const [words, sentence] of refused) {
    const error = t.throws(() => read(words), { instanceOf: UsageError }, words)
    t.regex(error.message, sentence, words)
    t.notRegex(error.message, /secret/, words)
  }
  const one = { options: {}, parameters: { id: optional('[id]', 'the id') } }
  const error = t.throws(() => valuesOf(divide(['a', 'secret'], {}), one))
  t.is(error.message, 'too many arguments: [id] expected, 2 given')
})

test('options in front end at the first argument that is no option', (t) => {
  const { options, parameters } = divide(split('--title t word --all x'), DEFINITION.options, {
    stopsEarly: true,
  })
  t.deepEqual([...options], [['title', ['t']]])
  t.deepEqual(parameters, ['word', '--all', 'x'])
})

test('similarTo suggests a name that differs by at most two letters', (t) => {
  const names = ['send', 'status', 'serve']
  t.is(similarTo('sned', names), 'send')
  t.is(similarTo('stats', names), 'status')
  t.is(similarTo('publish', names), undefined)
  t.is(similarTo('x', []), undefined)
})
