// Goal: what a person fills in becomes the body that the gateway takes, and the same command.

import test from 'ava'

import { BLANK_DRAFT, bodyOf, sentAt } from '#console/state/drafts.ts'
import type { Draft } from '#console/state/drafts.ts'

const NOW_MS = 1_767_225_600_000
const TIMES: readonly (readonly [change: Partial<Draft>, body: object, atMs: number])[] = [
  [{}, {}, NOW_MS],
  [{ delay: '5m', at: '2026-01-01T08:00' }, {}, NOW_MS],
  [{ when: 'delay', delay: ' 8h ' }, { delay: '8h' }, NOW_MS + 8 * 3_600_000],
  [{ when: 'delay', delay: '2d' }, { delay: '2d' }, NOW_MS + 2 * 86_400_000],
  [{ when: 'delay', delay: 'soon' }, { delay: 'soon' }, Number.NaN],
  [{ when: 'delay', delay: '' }, {}, Number.NaN],
  [
    { when: 'at', at: '2026-05-01T08:00' },
    { deliver_at: Date.parse('2026-05-01T08:00') },
    Date.parse('2026-05-01T08:00'),
  ],
]

test('a Message goes at once, after a time or at a time', (t) => {
  for (const [change, body, atMs] of TIMES) {
    const draft = { ...BLANK_DRAFT, title: 'a', ...change }
    t.deepEqual(bodyOf('message', draft, NOW_MS), { title: 'a', severity: 'normal', ...body })
    t.is(sentAt(draft, NOW_MS), atMs)
    t.false('delay' in bodyOf('event', draft, NOW_MS), 'an Event has no such time')
  }
})
