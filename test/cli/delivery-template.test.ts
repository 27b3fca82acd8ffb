// Goal: a template becomes the line that its user means, and no delivery can act on a terminal.

import test from 'ava'

import { readTemplate, TEMPLATE_NAMES } from '#src/cli/deliveries/delivery-template'
import { BadValue } from '#src/cli/command'
import { delivery } from '#test/support/delivery'

const named = {
  channelName: 'Home\u001b[2J',
  delivery: delivery({
    state: 'active',
    rev: 3,
    payload: { title: 'The\nboiler', attrs: { temperature: 21.5, at: { x: [1] }, 'a b': 'c' } },
  }),
}

const rows: [template: string, line: string][] = [
  ['{entity_id} {attrs.temperature}', 'boiler 21.5'],
  ['{time} {seq} {state} {rev}', '2026-01-31T12:03:44.000Z 7 active 3'],
  ['{channel_name}: {title}', 'Home?[2J: The boiler'],
  ['{payload.attrs.at} {attrs.at.x} {attrs.a b}', '{"x":[1]} [1] c'],
  ['{body}|{attrs.none}|{payload.title.deep}|{attrs.constructor}', '|||'],
  ['{{x}} \\t \\n \\\\n', '{x} \t \n \\n'],
  ['', ''],
]

test('a template becomes a line with the values of a delivery', (t) => {
  for (const [template, line] of rows) t.is(readTemplate(template)(named), line, template)
  for (const name of TEMPLATE_NAMES.filter((one) => !one.includes('.'))) {
    t.not(readTemplate(`{${name}}`)(named), `{${name}}`)
  }
})

test('readTemplate refuses a single brace and an unknown name', (t) => {
  for (const template of ['{', '}', 'a { b', '{titel}', '{constructor}', '{payload.}}', '{}']) {
    t.throws(() => readTemplate(template), { instanceOf: BadValue }, template)
  }
})
