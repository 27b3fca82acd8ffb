// Goal: what docs/history.md shows for other tools works as it stands there: a notebook, a scrape.
// Method: its cells are run by Python, and what a scrape gets is read by the parsers of Prometheus.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { keyed } from '#test/support/clients/keyed'
import { clientProgram, hasClient, hasProgram } from '#test/support/clients/programs'
import { blocksOf } from '#test/support/document-blocks'
import { post, until } from '#test/support/gateway'
import { runAt } from '#test/support/real-command-line'
import { standingOpenGateway } from '#test/support/standing'

const run = promisify(execFile)

/** Two boilers with two readings each, in a channel of their own. */
async function withBoilers(t: ExecutionContext) {
  const rig = await keyed(t, await standingOpenGateway())
  const { gateway, env } = rig
  const { HELIOGRAPH_KEY: password } = env
  const now = Date.now()
  for (const [thing_id, observed_at, temperature] of [
    ['boiler-1', now - 7_200_000, 60],
    ['boiler-1', now - 3_600_000, 64],
    ['boiler-2', now - 7_200_000, 70.5],
    ['boiler-2', now - 3_600_000, 70],
  ] as const) {
    const body = { password, thing_id, observed_at, title: 'A "boiler"', attrs: { temperature } }
    t.is((await post(gateway, '/thing/update', body)).status, 200)
  }
  const face = { unit: '°C', label: 'Temperature' }
  const presentation = [{ things: {}, attrs: { temperature: face } }]
  const { who } = rig
  t.is((await post(gateway, '/channel/presentation', { ...who, presentation })).status, 200)
  const scraped = async (): Promise<string> => {
    const headers = { authorization: `Bearer ${password}` }
    return (await fetch(`${gateway.baseUrl}/channel/metrics`, { headers })).text()
  }
  await until(scraped, (text) => [/64\n/, /70\n/].every((reading) => reading.test(text)))
  return { ...rig, scraped }
}

test('the notebook of docs/history.md has the tables that it promises, of files and over HTTP', async (t) => {
  if (!hasClient(t, 'python')) return
  const { env, folder, program, gateway } = await withBoilers(t)
  const cells = (language: string): readonly string[] =>
    blocksOf('docs/history.md', '### A notebook, step by step', language).map((cell) =>
      cell.replace(/^ {3}/gm, ''),
    )
  const place = { HELIOGRAPH_URL: gateway.baseUrl, HELIOGRAPH_PASSWORD: env.HELIOGRAPH_KEY }
  const commands =
    cells('sh')
      .join('')
      .match(/export --.*$/gm) ?? []
  t.is(commands.length, 2)
  for (const command of commands) {
    const words = command.replace('--output ', `--output ${folder}/`)
    const { exitCode, diagnostics } = await runAt(words, place)
    t.is(exitCode, 0, diagnostics.join())
  }
  const told = `
def told(frame): return {str(name): sorted(column.dropna().tolist()) for name, column in frame.items()}
import json
print(json.dumps([told(table), told(extremes), told(hours), boiler["mean"].tolist()]))`
  const path = program('notebook.py', cells('python').join('\n') + told)
  const { stdout } = await run(clientProgram('python'), [path], { env, cwd: folder })
  t.deepEqual(JSON.parse(stdout), [
    { "('boiler-1', 'temperature')": [60, 64], "('boiler-2', 'temperature')": [70, 70.5] },
    { min: [60, 70], max: [64, 70.5] },
    { 'boiler-1': [60, 64], 'boiler-2': [70, 70.5] },
    [60, 64],
  ])
})

test('a scrape is what the parser of Prometheus reads, and its tool finds nothing wrong', async (t) => {
  if (!hasClient(t, 'python')) return
  const { program, scraped } = await withBoilers(t)
  const text = await scraped()
  const parsing = `import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = text_string_to_metric_families(open(sys.argv[1], newline="").read())
print(json.dumps([[f.name, f.type, f.unit, [[s.labels, s.value] for s in f.samples]] for f in families]))`
  const path = program('scrape.txt', text)
  const { stdout } = await run(clientProgram('python'), ['-c', parsing, path])
  const [attrs, updated, open] = JSON.parse(stdout) as readonly unknown[][]
  const named = (thing: string) => ({ thing, title: 'A "boiler"' })
  const face = { attr: 'temperature', unit: '°C' }
  t.deepEqual(attrs, [
    'heliograph_thing_attr',
    'gauge',
    '',
    [
      [{ ...named('boiler-1'), ...face }, 64],
      [{ ...named('boiler-2'), ...face }, 70],
    ],
  ])
  t.deepEqual(updated?.slice(0, 3), ['heliograph_thing_updated_seconds', 'gauge', 'seconds'])
  t.deepEqual(open?.slice(0, 2), ['heliograph_events_open', 'gauge'])
  if (!hasProgram(t, 'promtool')) return
  const checked = run('promtool', ['check', 'metrics'])
  checked.child.stdin?.end(text)
  await t.notThrowsAsync(checked)
})
