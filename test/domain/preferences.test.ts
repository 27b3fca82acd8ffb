// The preferences of a subscription: what they leave out, and when a push makes no sound.

import test from 'ava'

import { isFault } from '#domain/fault'
import type { FeedEntry } from '#domain/feed'
import { PreferenceReader, isFiltered, pushableOf } from '#domain/push/preferences'
import type { Preferences, Pushable } from '#domain/push/preferences'
import { recordFrom } from '#domain/record'
import type { Fields } from '#domain/submission'
import { readPreferences } from '#src/schemas/people/preferences'

const NIGHT = { from: '22:00', to: '07:00' }

/** The moments at which quiet hours begin or end, in UTC. */
const QUIET = [
  // Berlin: 02:00 to 03:00 of 29 March 2026 do not exist, those of 25 October exist twice.
  ['Europe/Berlin', NIGHT, '2026-03-28T20:59Z', false],
  ['Europe/Berlin', NIGHT, '2026-03-28T21:00Z', true],
  ['Europe/Berlin', NIGHT, '2026-03-29T04:59Z', true],
  ['Europe/Berlin', NIGHT, '2026-03-29T05:00Z', false],
  ['Europe/Berlin', NIGHT, '2026-03-29T20:00Z', true],
  ['Europe/Berlin', NIGHT, '2026-10-24T19:59Z', false],
  ['Europe/Berlin', NIGHT, '2026-10-24T20:00Z', true],
  ['Europe/Berlin', NIGHT, '2026-10-25T05:59Z', true],
  ['Europe/Berlin', NIGHT, '2026-10-25T06:00Z', false],
  // A time that is left out in spring, and one that comes twice in autumn.
  ['Europe/Berlin', { from: '02:30', to: '04:00' }, '2026-03-29T00:59Z', false],
  ['Europe/Berlin', { from: '02:30', to: '04:00' }, '2026-03-29T01:00Z', true],
  ['Europe/Berlin', { from: '02:30', to: '03:00' }, '2026-10-25T00:30Z', true],
  ['Europe/Berlin', { from: '02:30', to: '03:00' }, '2026-10-25T01:00Z', false],
  ['Europe/Berlin', { from: '02:30', to: '03:00' }, '2026-10-25T01:30Z', true],
  // New York changes on 8 March and on 1 November.
  ['America/New_York', NIGHT, '2026-03-08T02:59Z', false],
  ['America/New_York', NIGHT, '2026-03-08T03:00Z', true],
  ['America/New_York', NIGHT, '2026-03-08T10:59Z', true],
  ['America/New_York', NIGHT, '2026-03-08T11:00Z', false],
  ['America/New_York', NIGHT, '2026-11-01T02:00Z', true],
  ['America/New_York', NIGHT, '2026-11-01T11:59Z', true],
  ['America/New_York', NIGHT, '2026-11-01T12:00Z', false],
  // Lord Howe changes by half an hour, in the south: summer ends on 5 April, begins on 4 October.
  ['Australia/Lord_Howe', NIGHT, '2026-04-04T11:00Z', true],
  ['Australia/Lord_Howe', NIGHT, '2026-04-04T20:29Z', true],
  ['Australia/Lord_Howe', NIGHT, '2026-04-04T20:30Z', false],
  ['Australia/Lord_Howe', NIGHT, '2026-10-03T11:29Z', false],
  ['Australia/Lord_Howe', NIGHT, '2026-10-03T11:30Z', true],
  ['Australia/Lord_Howe', NIGHT, '2026-10-03T19:59Z', true],
  ['Australia/Lord_Howe', NIGHT, '2026-10-03T20:00Z', false],
  // A window belongs to the day on which it begins: 2 January 2026 is a Friday.
  ['UTC', { ...NIGHT, days: ['fri'] }, '2026-01-02T06:59Z', false],
  ['UTC', { ...NIGHT, days: ['fri'] }, '2026-01-02T22:00Z', true],
  ['UTC', { ...NIGHT, days: ['fri'] }, '2026-01-03T00:00Z', true],
  ['UTC', { ...NIGHT, days: ['fri'] }, '2026-01-03T06:59Z', true],
  ['UTC', { ...NIGHT, days: ['fri'] }, '2026-01-03T22:00Z', false],
  ['UTC', { ...NIGHT, days: ['sat'] }, '2026-01-04T03:00Z', true],
  ['UTC', { from: '12:00', to: '13:00' }, '2026-01-02T11:59Z', false],
  ['UTC', { from: '12:00', to: '13:00' }, '2026-01-02T12:00Z', true],
  ['UTC', { from: '12:00', to: '13:00' }, '2026-01-02T13:00Z', false],
  ['UTC', { from: '00:00', to: '00:00', days: ['sat'] }, '2026-01-02T23:59Z', false],
  ['UTC', { from: '00:00', to: '00:00', days: ['sat'] }, '2026-01-03T00:00Z', true],
  ['UTC', { from: '00:00', to: '00:00', days: ['sat'] }, '2026-01-03T23:59Z', true],
  ['UTC', { from: '00:00', to: '00:00', days: ['sat'] }, '2026-01-04T00:00Z', false],
] as const

test('quiet hours follow the clocks of their time zone, over midnight and both changes of summer time', (t) => {
  const reader = new PreferenceReader()
  for (const [time_zone, window, time, expected] of QUIET) {
    const preferences = { quiet: [{ ...window, time_zone }] } as Preferences
    const isQuiet = reader.isQuiet(preferences, 'normal', Date.parse(time))
    t.is(isQuiet, expected, `${time_zone} ${JSON.stringify(window)} ${time}`)
  }
})

test('preferences/1: a thousand preferences and time zones are remembered, and read right beyond', (t) => {
  const reader = new PreferenceReader()
  const zones = Intl.supportedValuesOf('timeZone')
  for (let count = 0; count <= 1_000; count += 1) {
    const preferences = { level: count % 10, things: { prefix: `${count}` } }
    t.deepEqual(reader.read(JSON.stringify(preferences)), preferences)
    t.is(reader.size, count < 1_000 ? count + 1 : 1)
  }
  const noon = { from: '00:00', to: '00:00' }
  // A time zone has as many names as there are ways to write them.
  const names = zones.flatMap((zone) => [zone, zone.toLowerCase(), zone.toUpperCase()])
  const most = 1 + 1_000
  for (const time_zone of names) {
    t.true(reader.isQuiet({ quiet: [{ ...noon, time_zone }] }, 'normal', 0))
    t.true(reader.size <= most)
  }
})

test('a push sounds within quiet hours when its severity is at least unless', (t) => {
  const reader = new PreferenceReader()
  const noon = Date.parse('2026-01-02T12:00Z')
  const window = { from: '11:00', to: '13:00', time_zone: 'UTC' }
  const rows = [
    [undefined, 'critical', true],
    ['critical', 'critical', false],
    ['critical', 'high', true],
    ['normal', 'high', false],
    ['normal', 'normal', false],
    ['normal', 'low', true],
  ] as const
  for (const [unless, severity, expected] of rows) {
    const quiet = [{ ...window, ...(unless && { unless }) }]
    t.is(reader.isQuiet({ quiet }, severity, noon), expected, `${unless} ${severity}`)
  }
  // One window is enough, whatever the others say.
  const quiet = [{ ...window, unless: 'low' as const }, window]
  t.true(reader.isQuiet({ quiet }, 'critical', noon))
})

const EVENT: Pushable = { model: 'event', severity: 'normal', level: 0, thingId: undefined }

const LEFT_OUT: readonly (readonly [Preferences, Partial<Pushable>, boolean])[] = [
  [{}, { severity: 'low' }, false],
  [{ min_severity: 'high' }, { severity: 'normal' }, true],
  [{ min_severity: 'high' }, { severity: 'high' }, false],
  [{ min_severity: 'high' }, { severity: 'critical' }, false],
  [{ min_severity: 'low' }, { severity: 'low' }, false],
  [{ models: ['message', 'thing'] }, {}, true],
  [{ models: ['event'] }, {}, false],
  [{ level: 0 }, {}, false],
  [{ level: 1 }, {}, true],
  [{ level: 1 }, { level: 1 }, false],
  [{ level: 1 }, { level: 9 }, false],
  [{ level: 1 }, { model: 'message' }, true],
  [{ things: { ids: ['pump'] } }, { thingId: 'pump' }, false],
  [{ things: { ids: ['pump'] } }, { thingId: 'lamp' }, true],
  [{ things: { prefix: 'pump-' } }, { thingId: 'pump-1' }, false],
  [{ things: { prefix: 'pump-' } }, { thingId: 'lamp-1' }, true],
  [{ things: { ids: ['pump'] } }, {}, false],
]

test('preferences leave out what is below, of another model, or of another Thing', (t) => {
  for (const [preferences, differing, expected] of LEFT_OUT) {
    const pushable = { ...EVENT, ...differing }
    t.is(isFiltered(preferences, pushable), expected, JSON.stringify([preferences, pushable]))
  }
})

test('Things and texts that are no severity count as normal, and an Event has its present fields', (t) => {
  const entry = (model: string, payload: object): FeedEntry =>
    ({ model, entityId: 'it', payload: JSON.stringify(payload) }) as FeedEntry
  const rows = [
    [entry('thing', { severity: 'critical' }), {}, { severity: 'normal', thingId: 'it' }],
    [entry('event', { severity: 'urgent' }), {}, { severity: 'normal', thingId: undefined }],
    [entry('event', { severity: ' HIGH ' }), {}, { severity: 'high', level: 0 }],
    [entry('event', {}), { severity: 'high', thing_id: 'a' }, { severity: 'high', thingId: 'a' }],
    [entry('event', { severity: 'low' }), { severity: 'high' }, { severity: 'low' }],
    [entry('message', { thing_id: 'b', level: 4 }), {}, { thingId: 'b', level: 0 }],
  ] as const
  for (const [given, present, expected] of rows) {
    t.like(pushableOf(given, recordFrom(given.payload) as Fields, present), expected)
  }
})

const WINDOW = { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' }
const windows = (length: number) => Array.from({ length }, () => WINDOW)

test('preferences are taken at their limits, and refused beyond them by the path of the member', (t) => {
  const ids = Array.from({ length: 101 }, (_, at) => `t${at}`)
  const taken = [
    {},
    { min_severity: 'low', level: 9, models: ['message', 'event', 'thing'] },
    { things: { ids: ids.slice(1) }, quiet: windows(8) },
    { things: { prefix: 'a'.repeat(64) }, quiet: [{ ...WINDOW, days: ['mon'], unless: 'high' }] },
  ]
  for (const sent of taken) t.deepEqual(readPreferences(sent, 'notify'), sent as Preferences)
  const refused = [
    ['notify', []],
    ['notify.loud', { loud: true }],
    ['notify.min_severity', { min_severity: 'urgent' }],
    ['notify.level', { level: 10 }],
    ['notify.level', { level: 1.5 }],
    ['notify.models', { models: [] }],
    ['notify.models[0]', { models: ['rule'] }],
    ['notify.things', { things: {} }],
    ['notify.things', { things: { ids: ['a'], prefix: 'a' } }],
    ['notify.things.ids', { things: { ids } }],
    ['notify.things.prefix', { things: { prefix: 'a'.repeat(65) } }],
    ['notify.quiet', { quiet: windows(9) }],
    ['notify.quiet[1].from', { quiet: [WINDOW, { ...WINDOW, from: '24:00' }] }],
    ['notify.quiet[0].to', { quiet: [{ ...WINDOW, to: '7:00' }] }],
    ['notify.quiet[0].days[0]', { quiet: [{ ...WINDOW, days: ['monday'] }] }],
    ['notify.quiet[0].time_zone', { quiet: [{ ...WINDOW, time_zone: 'Europe/Atlantis' }] }],
    ['notify.quiet[0].unless', { quiet: [{ ...WINDOW, unless: 'loud' }] }],
  ] as const
  for (const [field, sent] of refused) {
    const read = readPreferences(sent, 'notify')
    t.like(isFault(read) ? read : {}, { code: 'validation_failed', field })
  }
})
