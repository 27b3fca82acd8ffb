// Goal: no payload of a hook holds the main thread up, whatever stands in it.

import test from 'ava'

import { fittingTags } from '#src/compat/extras'
import { PATH_KEY, startStyles } from '#test/support/compatibility-rig'

const alerts = (count: number) => ({ alerts: Array.from({ length: count }, () => ALERT) })
const ALERT = { status: 'firing', fingerprint: 'f', startsAt: '2025-11-20T07:00:00Z' }

test('hook-payloads/1: what stands beside alarms goes along with each, as far as it is read', async (t) => {
  const rig = await startStyles(t)
  const path = `/hook/alertmanager/${PATH_KEY}`
  const beside = { externalURL: `http://alerts/${'x'.repeat(1_500)}` }
  t.is((await rig.post(path, { ...alerts(600), ...beside })).status, 200)
  const refusal = await rig.post(path, { ...alerts(1_000), ...beside })
  t.is(refusal.status, 400)
  t.regex(refusal.text, /alerts is too long for what stands beside it/)
  const unread = { commonLabels: { text: 'x'.repeat(100_000) } }
  t.is((await rig.post(path, { ...alerts(1_000), ...unread })).status, 200)
})

test('hook-payloads/4: the thread reads what has arrived behind each fifty alarms', async (t) => {
  const rig = await startStyles(t)
  const { hooks } = rig.acceptance
  const pause = hooks.pause.bind(hooks)
  const submit = hooks.submit.bind(hooks)
  const rows: number[] = [0]
  hooks.pause = async () => {
    await pause()
    rows.push(0)
  }
  hooks.submit = (told, sender) => {
    rows[rows.length - 1] = (rows.at(-1) ?? 0) + 1
    return submit(told, sender)
  }
  t.is((await rig.post(`/hook/alertmanager/${PATH_KEY}`, alerts(1_000))).status, 200)
  // A thousand are read with nineteen pauses between, and then submitted with as many.
  t.deepEqual(rows, [...Array<number>(19).fill(0), ...Array<number>(20).fill(50)])
})

test('hook-payloads/1: tags are looked at until there are enough', (t) => {
  let looked = 0
  const labels = new Proxy(
    Array.from({ length: 1_000 }, (_, label) => `l${label}`),
    {
      get: (own, name) => {
        if (typeof name === 'string' && /^\d+$/.test(name)) looked += 1
        return Reflect.get(own, name) as unknown
      },
    },
  )
  t.is(fittingTags(labels)?.length, 32)
  t.is(looked, 32)
})
