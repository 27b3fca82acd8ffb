// Goal: the curl lines of the tools' documentation work once address and key are ours: curl itself
// sends them.

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { compatibilityStyles } from '#src/compat/styles'
import { WAIT_MS } from '#test/support/bounds'
import { temporaryFolder } from '#test/support/gateway'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { sentMessages } from '#test/support/sent-message'
import { startIngress } from '#test/support/start-ingress'

const KEY = `${CHANNEL}:${encodeURIComponent(PASSWORD)}`

/** The output of curl; undefined when it is not there, which fails under CI=true. */
async function curl(t: ExecutionContext, options: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('curl', ['-sS', ...options], {
      timeout: WAIT_MS,
    })
    return stdout
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error
    const sentence = 'curl is missing: install the package curl of the system'
    if (process.env['CI'] === 'true') t.fail(sentence)
    else {
      t.log(sentence)
      t.pass()
    }
    return undefined
  }
}

interface Line {
  readonly what: string
  /** `{T}`, `{S}` and `{D}` stand for the addresses of the styles, `{FILE}` for a text file. */
  readonly options: readonly string[]
  /** Absent: the tool refuses it, with a server that has this switched off. */
  readonly fields?: Readonly<Record<string, unknown>>
  readonly answer: RegExp
}

const json = ['-H', 'Content-Type: application/json; charset=utf-8'] as const
const NAMED = { title: 'Notification' }

const LINES: readonly Line[] = [
  {
    what: 'a text to a topic',
    options: ['-d', 'Backup successful 😀', `{T}/${KEY}`],
    fields: { ...NAMED, body: 'Backup successful 😀' },
    answer: /"event":"message"/,
  },
  {
    what: 'title, priority and tags as headers',
    options: ['-H', 'Title: Doors', '-H', 'Priority: urgent', '-H', 'Tags: warning,skull'].concat(
      '-d',
      'Back door is open',
      `{T}/${KEY}`,
    ),
    fields: { title: 'Doors', body: 'Back door is open', severity: 'critical' },
    answer: /"priority":5/,
  },
  {
    what: 'a text of several lines, a click and actions',
    options: [
      '-H',
      'Click: https://example.com/',
      '-H',
      'Actions: view, Open, https://example.com',
    ].concat('-d', 'first\nsecond', `{T}/${KEY}`),
    fields: { body: 'first\nsecond', url: 'https://example.com/' },
    answer: /"click":"https:\/\/example\.com\/"/,
  },
  {
    what: 'a picture by its address',
    options: ['-X', 'POST', '-H', 'Attach: https://example.com/a.jpg', `{T}/${KEY}`],
    fields: { images: ['https://example.com/a.jpg'], body: 'You received a file: a.jpg' },
    answer: /"attachment"/,
  },
  {
    what: 'a text by GET',
    options: [`{T}/${KEY}/publish?message=Webhook+triggered&priority=high&tags=warning`],
    fields: { body: 'Webhook triggered', severity: 'high', tags: ['warning'] },
    answer: /"message":"Webhook triggered"/,
  },
  {
    what: 'JSON to the root',
    options: ['{T}', '-d', JSON.stringify({ topic: `${CHANNEL}:${PASSWORD}`, message: 'M' })],
    fields: { body: 'M' },
    answer: /"event":"message"/,
  },
  {
    what: 'an access token as the password of Basic',
    options: ['-u', ':tk_whatever', '-d', 'M', `{T}/${KEY}`],
    fields: { body: 'M' },
    answer: /"event":"message"/,
  },
  {
    what: 'a text from standard input of a file, put',
    options: ['-T', '{FILE}', '-H', 'Title: Log', `{T}/${KEY}`],
    fields: { title: 'Log', body: 'text of a file' },
    answer: /"message":"text of a file"/,
  },
  {
    what: 'the upload of a file',
    options: ['-T', '{FILE}', '-H', 'Filename: log.txt', `{T}/${KEY}`],
    answer: /"code":40014/,
  },
  {
    what: 'delivery at a time that is said in words',
    options: ['-H', 'At: tomorrow, 10am', '-d', 'Good morning', `{T}/${KEY}`],
    answer: /"code":40004/,
  },
  {
    what: 'delayed delivery',
    options: ['-H', 'In: 30m', '-d', 'Good morning', `{T}/${KEY}`],
    fields: { ...NAMED, body: 'Good morning' },
    answer: /"event":"message"/,
  },
  {
    what: 'a delayed mail',
    options: ['-H', 'Email: phil@example.com', '-d', 'M', `{T}/${KEY}`],
    answer: /"code":40001/,
  },
  {
    what: 'deleting',
    options: ['-X', 'DELETE', `{T}/${KEY}/my-download-123`],
    answer: /"code":40401/,
  },
  {
    what: 'a form to a send-key',
    options: ['-d', 'title=Disk full&desp=see%20%2Fvar', `{S}/${KEY}.send`],
    fields: { title: 'Disk full', body: 'see /var' },
    answer: /"code":0/,
  },
  {
    what: 'encoded values to a send-key',
    options: [
      '--data-urlencode',
      'text=主机 & disk',
      '--data-urlencode',
      'desp=M',
      `{S}/${KEY}.send`,
    ],
    fields: { title: '主机 & disk', body: 'M' },
    answer: /"errno":0/,
  },
  {
    what: 'a send-key by GET',
    options: [`{S}/send/${KEY}.send?title=T&desp=M`],
    fields: { title: 'T', body: 'M' },
    answer: /"error":"SUCCESS"/,
  },
  {
    what: 'JSON to a send-key',
    options: [...json, '-d', '{"title":"T","desp":"M","tags":"a|b"}', `{S}/${KEY}.send`],
    fields: { title: 'T', body: 'M', tags: ['a', 'b'] },
    answer: /"pushid"/,
  },
  {
    what: 'title and body in the path of a device key',
    options: [`{D}/${KEY}/Title/Body%20text?group=test&level=timeSensitive`],
    fields: { title: 'Title', body: 'Body text', severity: 'high', tags: ['test'] },
    answer: /"message":"success"/,
  },
  {
    what: 'JSON to /push of the device-key tool',
    options: ['-X', 'POST', '{D}/push', ...json, '-d'].concat(
      JSON.stringify({ ...NAMED, body: 'M', device_key: `${CHANNEL}:${PASSWORD}`, badge: 1 }),
    ),
    fields: { ...NAMED, body: 'M' },
    answer: /"code":200/,
  },
  {
    what: 'a form to a device key',
    options: ['-X', 'POST', `{D}/${KEY}`, '-d', 'body=M&title=T&group=g'],
    fields: { title: 'T', body: 'M', tags: ['g'] },
    answer: /"code":200/,
  },
]

for (const { what, options, fields, answer } of LINES) {
  test(`curl: ${what} ${fields === undefined ? 'is refused as the tool would' : 'is sent'}`, async (t) => {
    const rig = await startIngress(t, { styles: compatibilityStyles({ keptMs: 1 }) })
    const file = join(await temporaryFolder(t), 'text')
    await writeFile(file, 'text of a file\n')
    const places: readonly (readonly [string, string])[] = [
      ['{T}', `${rig.url}/compat-topic`],
      ['{S}', `${rig.url}/compat-sendkey`],
      ['{D}', `${rig.url}/compat-devicekey`],
      ['{FILE}', file],
    ]
    const given = options.map((option) =>
      places.reduce((text, [name, value]) => text.replace(name, value), option),
    )
    const answered = await curl(t, given)
    if (answered === undefined) return
    t.regex(answered, answer)
    if (fields === undefined) t.is(rig.sink.accepted.length, 0)
    else t.like(sentMessages(rig.sink)[0], fields)
  })
}
