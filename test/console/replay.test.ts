// Goal: a submission that is sent again from a terminal or a program is the one that the feed has,
// whatever texts it carries, and its secret comes from outside.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import test from 'ava'

import { REPLAYS, replayAs, submissionOf } from '#console/state/replay.ts'
import type { FeedRecord } from '#src/client/bodies'

const run = promisify(execFile)
const PLACE = { baseUrl: 'http://127.0.0.1:8080', channelId: 'C'.repeat(26), hasToken: true }
const SECRET = `it's "secret" $HOME`
const HOSTILE = `it's "here" $HOME \`id\` \\ \u202e <b> \${x}\n`

const ENTRIES: readonly (readonly [entry: Partial<FeedRecord>, path: string, named: object])[] = [
  [{ model: 'thing', action: 'update', entity_id: 'a' }, '/thing/update', { thing_id: 'a' }],
  [{ model: 'event', action: 'create', entity_id: 'e' }, '/event/create', {}],
  [{ model: 'event', action: 'close', entity_id: 'e' }, '/event/close', { event_id: 'e' }],
  [{ model: 'message', action: 'send', entity_id: 'm' }, '/message', {}],
]

for (const [entry, path, named] of ENTRIES) {
  test(`${entry.model}/${entry.action} is sent again to ${path}`, (t) => {
    const payload = { title: HOSTILE }
    const found = submissionOf({ ...entry, payload } as FeedRecord)
    t.deepEqual(found, { path, body: { ...named, ...payload } })
  })
}

const SUBMISSION = { path: '/thing/update', body: { thing_id: 'a', title: HOSTILE } }
const SENT = { channel_id: PLACE.channelId, password: SECRET, ...SUBMISSION.body }

test('the line for a terminal sends what the feed has', async (t) => {
  // A shell that prints the last argument in place of curl's request.
  const line = `curl() { printf %s "\${@: -1}"; }\n${replayAs('curl', SUBMISSION, PLACE)}`
  const plain = { HELIOGRAPH_PASSWORD: 'correct-horse', HELIOGRAPH_TOKEN: 't' }
  const { stdout } = await run('bash', ['-c', line], { env: plain })
  t.deepEqual(JSON.parse(stdout), { ...SENT, password: 'correct-horse' })
})

test('the JavaScript sends what the feed has', async (t) => {
  const fake = '\nglobalThis.fetch = async (url, { body }) => ({ status: 0, text: () => body })\n'
  const script = replayAs('JavaScript', SUBMISSION, PLACE).replace('\n', fake)
  const env = { ...process.env, HELIOGRAPH_PASSWORD: SECRET, HELIOGRAPH_TOKEN: 't' }
  const { stdout } = await run('node', ['--input-type=module', '-e', script], { env })
  t.deepEqual(JSON.parse(stdout.slice(stdout.indexOf('{'))), SENT)
})

test('the Python sends what the feed has', async (t) => {
  const [head = ''] = replayAs('Python', SUBMISSION, PLACE).split('request = ')
  const env = { ...process.env, HELIOGRAPH_PASSWORD: SECRET, HELIOGRAPH_TOKEN: 't' }
  const { stdout } = await run('python3', ['-c', `${head}\nprint(json.dumps(body))`], { env })
  t.deepEqual(JSON.parse(stdout), SENT)
})

test('the text of a microcontroller has the secret as a name alone', (t) => {
  const text = replayAs('Arduino', SUBMISSION, PLACE)
  const [, posted = ''] = /POST\((.*)\);/.exec(text) ?? []
  const joined = posted.replace('" HELIOGRAPH_PASSWORD "', 'x')
  t.deepEqual(JSON.parse(JSON.parse(joined) as string), { ...SENT, password: 'x' })
  for (const kind of REPLAYS) t.regex(replayAs(kind, SUBMISSION, PLACE), /HELIOGRAPH_PASSWORD/)
})
