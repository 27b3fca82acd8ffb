// Goal: a line of a node's log becomes one short line for a person, or none.

import test from 'ava'

import { factOf } from '#src/dev/cluster/fact'

const HOLDS = 'the lanes of this process changed'

const rows: [line: string, kind: 'change' | 'problem' | undefined, text?: string][] = [
  [`{"level":30,"fact":"${HOLDS}","lanes":[5,0,2,1]}`, 'change', 'holds 4 lanes: 0-2, 5'],
  [`{"level":30,"fact":"${HOLDS}","lanes":[7]}`, 'change', 'holds 1 lane: 7'],
  [`{"level":30,"fact":"${HOLDS}","lanes":[]}`, 'change', 'holds no lane'],
  ['{"level":30,"fact":"stopping","signal":"SIGTERM"}', 'change', 'stopping'],
  ['{"level":30,"fact":"listening","port":1}', undefined],
  ['{"level":30,"fact":"connected to NATS"}', undefined],
  ['{"level":30,"fact":"stopped"}', undefined],
  ['{"level":30}', undefined],
  ['{"level":40,"fact":"leases lost","lanes":3}', 'problem', 'warning: leases lost'],
  [
    '{"level":50,"fact":"it did not start","reason":"port taken"}',
    'problem',
    'error: it did not start: port taken',
  ],
  ['{"level":40,"fact":"a turn failed","error":"x\\n\\u001b[2Jy"}', 'problem'],
  ['SERVICE_X is wrong', 'problem', 'SERVICE_X is wrong'],
  ['[1]', 'problem', '[1]'],
  ['  ', undefined],
]

test('factOf makes a fact of a line of the log, or nothing', (t) => {
  for (const [line, kind, text] of rows) {
    const fact = factOf(line)
    t.is(fact?.kind, kind, line)
    if (text !== undefined) t.is(fact?.text, text)
  }
})

test('a fact is one line of bounded length that cannot act on a terminal', (t) => {
  const reason = `first\nsecond\u001b[2J${'x'.repeat(1000)}`
  const { text } = factOf(JSON.stringify({ level: 50, fact: 'f', reason })) ?? { text: '' }
  t.true(text.startsWith('error: f: first second?[2J'))
  t.is(text.length, 200)
})
