// Requests of real clients of the topic style as bytes, with the Message that each means.

import { FORM_TYPE, JSON_TYPE, KEY, TOPIC, keptBy } from '#test/support/compatibility-rig'
import { CHANNEL } from '#test/support/making'
import type { RawAnswer, RawRequest } from '#test/support/raw-request'

/** Tests by which clients believe that their messages went through. */
export const BELIEFS = {
  'status 200': ({ status }: RawAnswer) => status === 200,
  'a JSON answer': ({ status, json }: RawAnswer) => status === 200 && 'id' in json,
  'the word expires': ({ text }: RawAnswer) => text.includes('expires'),
  'an id, or 200': ({ status, json }: RawAnswer) => status === 200 || 'id' in json,
  'id, time, event and topic': ({ json }: RawAnswer) =>
    ['id', 'time', 'event', 'topic'].every((name) => name in json),
} as const

export interface Sample extends RawRequest {
  readonly client: string
  readonly belief?: keyof typeof BELIEFS
  readonly fields: Readonly<Record<string, unknown>>
  /** Members of the answer. */
  readonly answer?: Readonly<Record<string, unknown>>
}

/** The title of a text without one. */
export const NAMED = { title: 'Notification' }

/** The metadata of values that a Message has no field for. */
export const kept = keptBy('topic')

/** The severity of a priority, which is kept beside it, with more that is kept. */
export const urgency = (severity: string, priority: number, more: object = {}): object => ({
  severity,
  ...kept({ priority, ...more }),
})

export const SAMPLES: readonly Sample[] = [
  {
    client: 'curl -d',
    line: `POST ${TOPIC}`,
    headers: [FORM_TYPE],
    body: 'disk 91% full & rising = bad',
    fields: { ...NAMED, body: 'disk 91% full & rising = bad' },
    answer: { message: 'disk 91% full & rising = bad', event: 'message', topic: `${CHANNEL}:***` },
  },
  {
    client: 'curl with headers',
    line: `POST ${TOPIC}`,
    headers: [FORM_TYPE, 'Title: Disk', 'Priority: urgent', 'Tags: warning,skull'],
    body: 'root volume at 91 %',
    fields: {
      title: 'Disk',
      body: 'root volume at 91 %',
      tags: ['warning', 'skull'],
      ...urgency('critical', 5),
    },
    answer: { title: 'Disk', priority: 5, tags: ['warning', 'skull'] },
  },
  {
    client: 'webhook',
    line: `GET ${TOPIC}/trigger`,
    fields: { ...NAMED, body: 'triggered' },
  },
  {
    client: 'qinglong',
    belief: 'an id, or 200',
    line: `POST ${TOPIC}`,
    headers: [
      'Title: =?utf-8?B?5pyN5Yqh?=',
      'Priority: 3',
      'Icon: https://example.com/i.png',
      'Authorization: Bearer whatever',
    ],
    body: '磁盘已满',
    fields: {
      title: '服务',
      body: '磁盘已满',
      ...urgency('normal', 3, { icon: 'https://example.com/i.png' }),
    },
    answer: { title: '服务', icon: 'https://example.com/i.png' },
  },
  {
    client: 'Apprise',
    line: 'POST /compat-topic/',
    headers: [
      JSON_TYPE,
      'X-Priority: high',
      'X-Tags: a,b',
      'X-Icon: https://example.com/i.png',
      'X-Click: https://example.com/',
      'X-Markdown: yes',
    ],
    body: JSON.stringify({ topic: KEY, title: 'T', message: 'M' }),
    fields: {
      title: 'T',
      body: 'M',
      url: 'https://example.com/',
      tags: ['a', 'b'],
      ...urgency('high', 4, { markdown: true, icon: 'https://example.com/i.png' }),
    },
    answer: { content_type: 'text/markdown', click: 'https://example.com/' },
  },
  {
    client: 'Uptime Kuma',
    line: 'POST /compat-topic',
    headers: [JSON_TYPE],
    body: JSON.stringify({
      topic: KEY,
      message: 'down',
      priority: 5,
      title: 'web Down [Uptime-Kuma]',
      tags: ['red_circle', `env: ${'p'.repeat(100)}`],
      actions: [{ action: 'view', label: 'Open web', url: 'https://example.com' }],
      icon: 'https://example.com/i.png',
    }),
    fields: {
      title: 'web Down [Uptime-Kuma]',
      body: 'down',
      tags: ['red_circle', `env: ${'p'.repeat(59)}`],
      ...urgency('critical', 5, {
        icon: 'https://example.com/i.png',
        actions: '[{"action":"view","label":"Open web","url":"https://example.com"}]',
      }),
    },
  },
  {
    client: 'Healthchecks',
    line: 'POST /compat-topic/',
    headers: [JSON_TYPE, 'Authorization: Bearer whatever'],
    body: JSON.stringify({
      topic: KEY,
      title: 'T',
      message: 'M',
      priority: 4,
      tags: ['rotating_light'],
    }),
    fields: {
      title: 'T',
      body: 'M',
      tags: ['rotating_light'],
      ...urgency('high', 4),
    },
  },
  {
    client: 'borgmatic',
    line: `POST ${TOPIC}`,
    headers: ['X-Title: Backup', 'X-Message: done', 'X-Priority: min', 'X-Tags: borgmatic'],
    body: '',
    fields: {
      title: 'Backup',
      body: 'done',
      tags: ['borgmatic'],
      ...urgency('low', 1),
    },
  },
  {
    client: 'shoutrrr',
    belief: 'a JSON answer',
    line: `POST ${TOPIC}/`,
    headers: ['Title: T', 'Priority: Default', 'Tags: x', 'Cache: no', 'Firebase: no'],
    body: 'updated',
    fields: {
      title: 'T',
      body: 'updated',
      tags: ['x'],
      ...urgency('normal', 3, { cache: 'no', firebase: 'no' }),
    },
  },
  {
    client: 'acme.sh',
    belief: 'the word expires',
    line: `POST ${TOPIC}`,
    headers: ['Priority: high', 'Tags: lock', 'Title: acme', 'Authorization: Bearer whatever'],
    body: 'renewed',
    fields: {
      title: 'acme',
      body: 'renewed',
      tags: ['lock'],
      ...urgency('high', 4),
    },
  },
  {
    client: 'browser',
    line: `POST ${TOPIC}`,
    headers: ['Origin: https://example.com', 'Priority: u=1, i'],
    body: 'from a page',
    fields: { ...NAMED, body: 'from a page' },
  },
  {
    client: 'Home Assistant, with a file that was sent as its address',
    belief: 'id, time, event and topic',
    line: `PUT ${TOPIC}`,
    headers: [
      'X-Title: Camera',
      'X-Message: motion',
      'X-Priority: 4',
      'X-Tags: camera,motion',
      'X-Attach: https://example.com/still.png',
      'X-Filename: still.png',
    ],
    body: '',
    fields: {
      title: 'Camera',
      body: 'motion',
      images: ['https://example.com/still.png'],
      tags: ['camera', 'motion'],
      ...urgency('high', 4, { filename: 'still.png' }),
    },
    answer: { attachment: { name: 'still.png', url: 'https://example.com/still.png' } },
  },
  {
    client: 'alertmanager-ntfy',
    line: `POST ${TOPIC}`,
    headers: [
      'X-Title: Disk (firing)',
      'X-Tags: rotating_light,severity: page',
      'X-Priority: urgent',
      'X-Click: https://prometheus.example.com/graph?g0.expr=up',
      'X-Actions: view, Silence, https://alerts.example.com/#/silences/new, clear=true',
    ],
    body: 'node 7 has 3 % left',
    fields: {
      title: 'Disk (firing)',
      body: 'node 7 has 3 % left',
      url: 'https://prometheus.example.com/graph?g0.expr=up',
      tags: ['rotating_light', 'severity: page'],
      ...urgency('critical', 5, {
        actions: 'view, Silence, https://alerts.example.com/#/silences/new, clear=true',
      }),
    },
    answer: { click: 'https://prometheus.example.com/graph?g0.expr=up' },
  },
  {
    client: 'the command line of the tool',
    belief: 'a JSON answer',
    line: `POST ${TOPIC}`,
    headers: [
      'X-Title: Build',
      'X-Priority: low',
      'X-Tags: tada',
      'X-Click: https://ci.example.com/7',
      'X-Cache: no',
      'X-Firebase: no',
    ],
    body: 'build 7 passed',
    fields: {
      title: 'Build',
      body: 'build 7 passed',
      url: 'https://ci.example.com/7',
      tags: ['tada'],
      ...urgency('low', 2, { cache: 'no', firebase: 'no' }),
    },
  },
  {
    client: 'Home Assistant',
    belief: 'id, time, event and topic',
    line: `POST ${TOPIC}/garage-door`,
    headers: ['X-Attach: https://example.com/door.jpg?size=1'],
    body: 'open',
    fields: {
      ...NAMED,
      body: 'open',
      images: ['https://example.com/door.jpg?size=1'],
      ...kept({ sequence_id: 'garage-door' }),
    },
    answer: {
      sequence_id: 'garage-door',
      attachment: { name: 'door.jpg', url: 'https://example.com/door.jpg?size=1' },
    },
  },
]
