// What 10,000 updates a second at 10,000 Things cost the page of the console: `npm run
// console:frames`. The page is the built one; its session is a worker of this script, so nothing
// but the browser uses a processor. What the page's own thread uses of one is told, too, because
// that is true on a busy machine as well. `npm run bench -- console` has the whole way.

import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { parseArgs } from 'node:util'

import { chromium } from 'playwright-core'
import type { Browser, CDPSession, Page } from 'playwright-core'

import { findOrInstall } from '#src/dev/servers/programs'

const FOLDER = new URL('../../dist/console', import.meta.url).pathname
const ORIGIN = 'http://console.localhost'
const CHANNEL = 'A'.repeat(26)
const SLOW_MS = 50
/** A phone's processor is so many times slower. */
const SLOWER = 4

const { values } = parseArgs({
  options: {
    things: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '10' },
    as: { type: 'string', default: 'table' },
    search: { type: 'string', default: '' },
  },
})
const things = Number(values.things)
const rate = Number(values.rate)
const seconds = Number(values.seconds)

/** Tells the page of Things as the worker of its session does, folded while the page draws. */
const SESSION = `
const ids = Array.from({ length: ${things} }, (_, at) => 'boiler-' + at)
const thing = (id, at) => ({
  id, state: 'active', rev: at, seq: at, externalIds: {}, attrTimes: {},
  fields: { title: 'The ' + id, tags: ['cellar'], observed_at: Date.now() },
  attrs: { temperature: 20 + (at % 97) / 10, humidity: 40 + (at % 31), burning: at % 2 === 0 },
})
const news = (changed, happenings = []) => postMessage({
  kind: 'news', things: [{ channelId: '${CHANNEL}', changed, gone: [] }], happenings,
})
const changed = new Map()
let [sent, isDrawn, began] = [0, true, 0]
addEventListener('message', ({ data }) => {
  if (data.kind === 'drawn') isDrawn = true
  if (data.kind !== 'open') return
  postMessage({ kind: 'state', state: { kind: 'open' } })
  news(ids.map(thing), [
    { kind: 'channel', channelId: '${CHANNEL}', channelName: 'Frames' },
    { kind: 'caught-up', channelId: '${CHANNEL}' },
  ])
  isDrawn = false
  began = performance.now()
  setInterval(() => {
    const due = Math.floor(((performance.now() - began) * ${rate}) / 1_000)
    for (; sent < due; sent += 1) {
      const id = ids[(sent * 7) % ids.length]
      changed.set(id, thing(id, sent))
    }
    if (!isDrawn || changed.size === 0) return
    isDrawn = false
    news([...changed.values()])
    changed.clear()
  }, 4)
})`

/** What the browser keeps of a person who has the channel. */
const KEPT = JSON.stringify({
  channels: [{ id: CHANNEL, name: 'Frames', secret: 'x' }],
  devices: [{ deviceKey: 'x', channels: [CHANNEL] }],
  language: 'en',
})

/** Counts the Things in what the worker tells, and the gaps between frames. */
const COUNT = `(() => {
  localStorage.setItem('heliograph console', ${JSON.stringify(KEPT)})
  globalThis.drawnThings = 0
  globalThis.gaps = []
  globalThis.Worker = class extends Worker {
    constructor(...all) {
      super(...all)
      this.addEventListener('message', ({ data }) => {
        for (const { changed } of data.things ?? []) globalThis.drawnThings += changed.length
      })
    }
  }
  let last = 0
  const frame = (at) => {
    if (last > 0) globalThis.gaps.push(at - last)
    last = at
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
})()`

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
}

/** Serves the built console, with a session of this script's own, and no gateway behind it. */
async function serve(page: Page): Promise<void> {
  await page.context().route('**/*', async (route) => {
    const path = new URL(route.request().url()).pathname
    if (!path.startsWith('/console/')) return route.fulfill({ status: 503, body: '' })
    const name = path.slice('/console/'.length) || 'index.html'
    const isSession = name.startsWith('session-')
    const body = isSession ? SESSION : await readFile(join(FOLDER, name)).catch(() => undefined)
    if (body === undefined || name === 'service-worker.js') return route.fulfill({ status: 404 })
    return route.fulfill({ body, contentType: TYPES[extname(name)] ?? 'application/octet-stream' })
  })
}

async function secondsOf(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
}

async function measure(browser: Browser): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1_200, height: 800 }, locale: 'en-GB' })
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await serve(page)
  await page.addInitScript(COUNT)
  const search = values.search === '' ? '' : `&search=${encodeURIComponent(values.search)}`
  await page.goto(`${ORIGIN}/console/#/${CHANNEL}/overview&as=${values.as}${search}`)
  await page.locator('.row .amount, .tile').first().waitFor()
  const first = await secondsOf(session)
  await page.waitForTimeout(2_000)
  await page.evaluate('gaps.length = 0')
  const [usedBefore, drawnBefore] = [
    await secondsOf(session),
    await page.evaluate<number>('drawnThings'),
  ]
  await page.waitForTimeout(seconds * 1_000)
  const used = (await secondsOf(session)) - usedBefore
  const drawn = (await page.evaluate<number>('drawnThings')) - drawnBefore
  const gaps = await page.evaluate<readonly number[]>('gaps')
  const slow = gaps.filter((ms) => ms > SLOW_MS).length
  const lines = [
    `first view: ${(first * 1_000).toFixed(0)} ms of the page's thread, ` +
      `${(first * SLOWER).toFixed(2)} s on a processor ${SLOWER} times slower`,
    `updates: ${Math.round(drawn / seconds)} Things a second, ` +
      `${((used / drawn) * 1e6).toFixed(1)} µs of the thread each, ${((used / seconds) * 100).toFixed(0)} % busy`,
    `frames: ${gaps.length} in ${seconds} s, ${((slow / gaps.length) * 100).toFixed(1)} % ` +
      `over ${SLOW_MS} ms, the longest ${Math.max(...gaps).toFixed(0)} ms`,
    `a frame: ${((used / gaps.length) * 1_000).toFixed(1)} ms of the thread`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

const found = await findOrInstall('chromium', process.env)
if (found.kind !== 'found') throw new Error(found.reason)
const browser = await chromium.launch({ executablePath: found.file, args: ['--no-sandbox'] })
try {
  await measure(browser)
} finally {
  await browser.close()
}
