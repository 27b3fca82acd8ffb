// Goal: mappings of topics from a shell: what is sent, and what a person reads.
// Method: whole command lines against a recorded fetch.

import test from 'ava'

import { CHANNEL, PASSWORD, run } from '#test/support/command-line'
import { success } from '#test/support/fake-process-context'

const CREDENTIALS = { channel_id: CHANNEL, password: PASSWORD }
const MAPPING = { topic: 'home/+room/+device/state', thing: '{room}-{device}' }

test('channel mappings shows what topics become, and those that nothing takes', async (t) => {
  const mappings = [{ ...MAPPING, kind: 'attrs', time: 'ts' }]
  const unmapped = [{ topic: 'x/\u001by', at: 1_700_000_000_000 }]
  const answer = () => success({ channel_id: CHANNEL, mappings, unmapped })
  const { context, exitCode } = await run('channel mappings', { answer })
  t.is(exitCode, 0, context.shown)
  t.deepEqual(context.requests[0]?.body, CREDENTIALS)
  t.deepEqual(context.printed, [
    'mapped\thome/+room/+device/state\t{room}-{device}, time ts',
    'unmapped\tx/?y\t2023-11-14T22:13:20.000Z',
  ])
})

test('channel mappings with a file replaces them', async (t) => {
  const input = JSON.stringify([MAPPING])
  const answer = () => success({ channel_id: CHANNEL, mappings: [], unmapped: [] })
  const { context, exitCode } = await run('channel mappings -', { input, answer })
  t.is(exitCode, 0, context.shown)
  t.deepEqual(context.requests[0]?.body, { ...CREDENTIALS, mappings: [MAPPING] })
  t.deepEqual([context.printed, context.diagnostics], [[], ['none']])
})

test('a file without a list is named, and nothing is sent', async (t) => {
  const { context, exitCode } = await run('channel mappings -', { input: '{}' })
  t.is(exitCode, 2)
  t.regex(context.shown, /-: mappings are a JSON list/)
  t.deepEqual(context.requests, [])
})

test('channel presentation shows the faces of attrs, and a file replaces them', async (t) => {
  const presentation = [
    { things: {}, attrs: { t: { unit: '°C', decimals: 1 } } },
    { things: { prefix: 'pump-', tag: 'x' }, attrs: { t: { hidden: true } } },
  ]
  const answer = () => success({ presentation })
  const { context } = await run('channel presentation', { answer })
  t.deepEqual(context.requests[0]?.body, CREDENTIALS)
  t.deepEqual(context.printed, [
    'all\tt\tunit °C, decimals 1',
    'prefix pump-, tag x\tt\thidden true',
  ])
  const put = await run('channel presentation -', {
    input: '[]',
    answer: () => success({ presentation: [] }),
  })
  t.deepEqual(put.context.requests[0]?.body, { ...CREDENTIALS, presentation: [] })
  t.deepEqual([put.context.printed, put.context.diagnostics], [[], ['none']])
})
