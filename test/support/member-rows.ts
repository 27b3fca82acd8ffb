// Values at the border of members that hold more than one value: rules, mappings, tokens.
// Of each the schema of the document and the gateway must think the same.

import { EXAMPLES } from '#src/schemas/document/examples'

type Values = readonly unknown[]
type Fields = Readonly<Record<string, unknown>>

/** So many of the same. */
const times = (count: number, item: unknown): Values => Array.from({ length: count }, () => item)

const THINGS: Values = [
  'all', 'All', 1, {}, { ids: [] }, { ids: ['a'] }, { ids: ['a b'] }, { ids: Array(1000).fill('a') },
  { ids: Array(1001).fill('a') }, { prefix: 'a' }, { prefix: '' }, { prefix: 'a'.repeat(65) }, { tag: ' ' },
  { tag: 'ä'.repeat(256) }, { tag: '😀'.repeat(256) }, { tag: '😀'.repeat(257) }, { tag: 'a', prefix: 'a' }, { name: 'a' },
] // oxfmt-ignore

const CONDITIONS: Values = [
  'attr', {}, { attr: 'a' }, { attr: 'a', above: 1 }, { attr: 'a', above: '1' }, { attr: 'a', above: 1, below: 2 },
  { attr: 'a', below: null }, { attr: ['a', 'b'], below: 1 }, { attr: [], below: 1 }, { attr: Array(9).fill('a'), below: 1 },
  { attr: ['a', ' '], below: 1 }, { attr: '', below: 1 }, { attr: 'a'.repeat(256), below: 1 }, { attr: 'a'.repeat(257), below: 1 },
  { attr: 'a', inside: [1, 2] }, { attr: 'a', inside: [1] }, { attr: 'a', outside: [1, 2, 3] }, { attr: 'a', outside: ['1', 2] },
  { attr: 'a', equals: '' }, { attr: 'a', equals: false }, { attr: 'a', not_equals: [] }, { attr: 'a', not_equals: 1.5 },
  { attr: 'a', absent: true }, { attr: 'a', absent: false }, { attr: 'a', is: 1 }, { above: 1 }, { silent: '1s' }, { silent: '0s' },
  { silent: '30d' }, { silent: '31d' }, { silent: '2592000s' }, { silent: '2592001s' }, { silent: ' 1s' }, { silent: '1m', cel: 'true' },
  { all: [] }, { all: [{ silent: '1m' }] }, { any: times(32, { silent: '1m' }) }, { any: times(33, { silent: '1m' }) },
  { any: [{ attr: 'a' }] }, { not: { silent: '1m' } }, { not: [] }, { not: { not: { any: [{ cel: 'attrs.a > 1.0' }] } } },
  { cel: ' ' }, { cel: `true${' '.repeat(1020)}` }, { cel: `true${' '.repeat(1021)}` },
] // oxfmt-ignore

const TEXTS: Values = ['a', '', ' ', 1, 'a'.repeat(256), 'a'.repeat(257)]
const SHARED: readonly Fields[] = [
  ...TEXTS.map((title) => ({ title })),
  ...['high', 'High', ''].map((severity) => ({ severity })),
  ...[[], ['a'], ['a'.repeat(64)], ['a'.repeat(65)], Array(32).fill('a'), Array(33).fill('a'), [1]].map(
    (tags) => ({ tags }),
  ),
  ...[{}, { a: 1 }, { '': 1 }, { ['k'.repeat(64)]: 1 }, { ['k'.repeat(65)]: 1 }, { a: [] }, []].map(
    (metadata) => ({ metadata }),
  ),
  { metadata: Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`k${at}`, true])) },
  { metadata: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`k${at}`, true])) },
  { other: 1 },
] // oxfmt-ignore

const STEPS: Values = [
  [], [{}], [{ after: '1s', level: 1 }], [{ after: '1s', level: 0 }], [{ after: '1s', level: 9 }], [{ after: '1s', level: 10 }],
  [{ after: ' 1s', level: 1 }], [{ after: '1s', level: 1, severity: 'low' }], [{ after: '1s', level: 1, severity: 'no' }],
  [{ after: '1s', level: 1, other: 1 }], [1, 2, 3, 4, 5].map((level) => ({ after: `${level}m`, level })),
  [1, 2, 3, 4, 5, 6].map((level) => ({ after: `${level}m`, level })),
] // oxfmt-ignore

const LEVEL = { when: { silent: '1m' }, severity: 'high' }

const EVENT: readonly Fields[] = [
  ...SHARED,
  ...[2048, 2049].map((length) => ({ description: 'a'.repeat(length) })),
  { message: '' },
  ...[[], [LEVEL], times(8, LEVEL), times(9, LEVEL), [{ when: LEVEL.when }]].map((levels) => ({ levels })),
  { levels: [{ ...LEVEL, other: 1 }] },
  ...['1s', '1w', 60].map((every) => ({ update_every: every })),
  ...['59s', '60s', '1m', '86400s', '86401s', '1440m', '1441m', '24h', '25h', '1d', '2d'].map((every) => ({ remind_every: every })),
  ...STEPS.map((escalate) => ({ escalate })),
  { at_most_every: '1m' },
] // oxfmt-ignore

const MESSAGE: readonly Fields[] = [
  ...SHARED,
  { body: 'a' },
  { at_most_every: '1d' },
  { at_most_every: '1' },
  { update_every: '1m' },
]

const RULE = { things: 'all', when: { silent: '1m' }, event: { title: 'a' } }

const RULES: Values = [
  RULE,
  { ...RULE, things: undefined },
  { ...RULE, when: undefined },
  { ...RULE, event: undefined },
  { ...RULE, message: { title: 'a' } },
  { ...RULE, other: 1 },
  { ...RULE, enabled: false },
  { ...RULE, enabled: 'no' },
  ...TEXTS.map((title) => ({ ...RULE, title })),
  ...['1s', '0s', '30d', '721h'].flatMap((time) => [
    { ...RULE, for: time },
    { ...RULE, clear_for: time },
  ]),
  ...THINGS.map((things) => ({ ...RULE, things })),
  ...CONDITIONS.map((when) => ({ ...RULE, when })),
  ...CONDITIONS.map((clear) => ({ ...RULE, clear })),
  ...EVENT.map((more) => ({ ...RULE, event: { title: 'a', ...more } })),
  ...MESSAGE.map((more) => ({ ...RULE, event: undefined, message: { title: 'a', ...more } })),
]

const MAPPINGS: Values = [
  ...[
    '', 'a', 'a/b', '/a', 'a/', 'a//b', '+', '+a', '+1', '+a/b', 'a/+b', 'a+/b', '#a', '#a/b', 'a/#a', '#', '#a/#b',
    'a/#b/+c', 'a\u0000', 'ä/+a', 'a'.repeat(512), 'a'.repeat(513), 'ä'.repeat(128), '😀'.repeat(128), '😀'.repeat(129), 5,
  ].map((topic) => ({ topic, thing: 'a' })),
  ...['', 'a', 'a b', '{room}', 'a-{room}', '{room', '{}', 'ä', '{room}{room}', 'a'.repeat(512), 'a'.repeat(513)].map(
    (thing) => ({ topic: '+room', thing }),
  ),
  ...['', 'a.b', 'a'.repeat(512), 'a'.repeat(513), '\u0000', 5].flatMap((text) => [
    { topic: 'a', thing: 'a', time: text },
    { topic: 'a', thing: 'a', prefix: text },
  ]),
  ...['attrs', 'message', 'Message', 5].map((kind) => ({ topic: 'a', thing: 'a', kind })),
  { topic: 'a' }, { thing: 'a' }, { topic: 'a', thing: 'a', other: 1 }, 'a',
].map((mapping) => [mapping]) // oxfmt-ignore

const DURATIONS: Values = [
  '9s', '10s', ' 10s ', '2592000s', '2592001s', '43200m', '43201m', '720h', '721h', '30d', '31d', '0d', '1w', '1.5h', '10S',
] // oxfmt-ignore

const POINT = `B${'A'.repeat(86)}`
const SECRET = 'BTBZMqHH6r4Tts7J_aSIgg'
const subscription = (more: Fields, keys: Fields = {}): string =>
  JSON.stringify({ endpoint: 'https://push.example/1', keys: { p256dh: POINT, auth: SECRET, ...keys }, ...more }) // oxfmt-ignore

const TOKENS: Values = [
  'f'.repeat(63), 'f'.repeat(64), 'f'.repeat(256), 'f'.repeat(257), 'g'.repeat(64), 'x'.repeat(15), 'x'.repeat(16),
  'x'.repeat(4096), 'x'.repeat(4097), `{${'x'.repeat(16)}`, 'x'.repeat(15) + 'ä', `${'x'.repeat(16)} y`, subscription({}),
  ` ${subscription({})} `, `x${subscription({})}`,
] // oxfmt-ignore

/** By the name of the member; each row stands in the example of every request that has it. */
export const MEMBER_ROWS: Readonly<Record<string, Values>> = {
  rule: RULES,
  mappings: [...MAPPINGS, EXAMPLES.mappings, times(100, { topic: 'a', thing: 'a' })],
  delay: DURATIONS,
  remind_every: ['59s', '1m', '1d', '25h', '1441m'],
  snooze: ['59s', '60s', '7d', '8d', '168h', '169h', '10080m', '10081m', '604800s', '604801s'],
  provider_token: TOKENS,
}
