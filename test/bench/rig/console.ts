// The console in a real browser, before a gateway with a board of Things that change.

import { mkdir, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

import { chromium } from 'playwright-core'
import type { Browser, CDPSession, Page } from 'playwright-core'

import { findOrInstall } from '#src/dev/servers/programs'
import { Caller, PASSWORD, textOf } from './caller.ts'
import { newToken } from './gateway.ts'
import { MqttClients } from './load-process.ts'
import { openMqttGateway, untilEnded } from './mqtt.ts'
import type { MqttGateway } from './mqtt.ts'

export const THINGS = 10_000
export const UPDATES_PER_SECOND = 10_000
/** A phone's processor is so many times slower. */
const SLOWER = 4
const FRAME_MAX_MS = 50
/** MQTT is the way in that leaves most of two processors to the page. */
const CLIENTS = 64
const UNDER_WAY = 20
const FILL_MS = 2_000
const FILLS_MAX = 60
const WAIT_MS = 120_000
const FOLDER = fileURLToPath(
  import.meta.resolve('#package').replace('package.json', 'dist/console'),
)

/** Kilobytes of script and style over the wire, in both languages: gzip, which every browser takes. */
export async function wireKb(): Promise<number> {
  const names = (await readdir(FOLDER)).filter((name) => /\.(js|css)$/.test(name))
  const files = await Promise.all(names.map((name) => readFile(join(FOLDER, name))))
  return files.reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0) / 1024
}

export interface Visit {
  /** Seconds from the navigation to the first content, and to the rows of a board. */
  readonly firstViewS: number
  readonly boardS: number
  /** Seconds until every Thing of the board is there. */
  readonly wholeS: number
  /** Seconds of a processor that the page's own thread used until the rows stood there. */
  readonly threadS: number
}

export interface Watching {
  readonly frames: number
  /** The part of the frames that came more than 50 ms after the one before, in percent. */
  readonly slowPercent: number
  readonly longestMs: number
  /** The part of the time in which the page's own thread used a processor, in percent. */
  readonly busyPercent: number
  /** Things that changed on the page, each counted once a frame. */
  readonly drawnPerSecond: number
  /** Megabytes of the heap after a collection: after a quarter of the time, and at the end. */
  readonly heapMb: readonly [early: number, late: number]
  /** What the gateway took: less than 10,000 where the machine has not enough processors. */
  readonly acceptedPerSecond: number
}

export class ConsoleBench {
  readonly #gateway: MqttGateway
  readonly #browser: Browser
  readonly #clients: MqttClients
  readonly #link: string

  private constructor(gateway: MqttGateway, browser: Browser, clients: MqttClients, link: string) {
    this.#gateway = gateway
    this.#browser = browser
    this.#clients = clients
    this.#link = link
  }

  /** Starts a gateway with one channel of 10,000 Things, and a browser. */
  static async open(directory: string): Promise<ConsoleBench> {
    const found = await findOrInstall('chromium', process.env)
    if (found.kind !== 'found') throw new Error(found.reason)
    await mkdir(directory, { recursive: true })
    const token = newToken()
    const gateway = await openMqttGateway(directory, token)
    const { server, mqttPort } = gateway
    const caller = new Caller(server, token)
    const named = { channel_name: 'board', password: PASSWORD }
    const channel = textOf(await caller.post('/channel/create', named), 'channel_id')
    const proved = { channel_id: channel, password: PASSWORD }
    const key = textOf(await caller.post('/channel/key', proved), 'key')
    const clients = new MqttClients()
    const userNames = Array.from({ length: CLIENTS }, () => key)
    await clients.connect(mqttPort, userNames, THINGS)
    await untilEnded(server, token, await fillBoard(clients))
    const options = { executablePath: found.file, args: ['--no-sandbox'] }
    const browser = await chromium.launch(options)
    const link = `http://127.0.0.1:${server.port}/console/#/open/${channel}/${PASSWORD}/${token}`
    return new ConsoleBench(gateway, browser, clients, link)
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await this.#clients.stop()
    await this.#gateway.stop()
  }

  /** The first visit of a browser that has nothing of the page, on a slow processor. */
  async visit(): Promise<Visit> {
    const { page, session } = await this.#person()
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
    await page.goto(this.#link)
    const row = await rowsOf(page)
    const paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime / 1_000"
    const firstViewS = await page.evaluate<number>(paint)
    const threadS = await metricOf(session, 'TaskDuration')
    const wholeS = await wholeOf(page)
    await page.context().close()
    return { firstViewS, boardS: row, wholeS, threadS }
  }

  /** A person looks at the board, and scrolls it, while its Things change. */
  async watch(seconds: number): Promise<Watching> {
    const { page, session } = await this.#person()
    await page.goto(this.#link)
    await rowsOf(page)
    await wholeOf(page)
    const pace = { ratePerSecond: UPDATES_PER_SECOND, underWay: UNDER_WAY }
    const durationMs = seconds * 1_000
    const loading = this.#clients.publish({ ...pace, durationMs })
    const busy = await metricOf(session, 'TaskDuration')
    const drawn = await page.evaluate<number>('drawnThings')
    const frames = page.evaluate<readonly number[]>(`(${FRAMES})(${durationMs})`)
    await page.waitForTimeout(durationMs / 4)
    const early = await heapMbOf(session)
    const gaps = await frames
    const busyS = (await metricOf(session, 'TaskDuration')) - busy
    const drawnPerSecond = ((await page.evaluate<number>('drawnThings')) - drawn) / seconds
    const late = await heapMbOf(session)
    const { perSecond: acceptedPerSecond } = await loading
    await page.context().close()
    const slow = gaps.filter((ms) => ms > FRAME_MAX_MS).length
    return {
      frames: gaps.length,
      slowPercent: (slow / gaps.length) * 100,
      longestMs: Math.max(...gaps),
      busyPercent: (busyS / seconds) * 100,
      heapMb: [early, late],
      drawnPerSecond,
      acceptedPerSecond,
    }
  }

  async #person(): Promise<{ readonly page: Page; readonly session: CDPSession }> {
    const viewport = { width: 1200, height: 800 }
    const context = await this.#browser.newContext({ locale: 'en-GB', viewport })
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await page.addInitScript(COUNT)
    // Time of the thread on a processor: what else the machine does is not counted.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    return { page, session }
  }
}

/** Publishes until the gateway has every Thing. Returns how many publishes it acknowledged. */
async function fillBoard(clients: MqttClients): Promise<number> {
  // Clients take their Things in turn, and none is twice as fast as another.
  let acknowledged = 0
  for (let fills = 0; acknowledged < 2 * THINGS; fills += 1) {
    if (fills === FILLS_MAX) throw new Error(`${acknowledged} publishes were acknowledged`)
    const report = await clients.publish({ durationMs: FILL_MS, underWay: UNDER_WAY })
    acknowledged += report.acknowledged
  }
  return acknowledged
}

/** Counts the Things in what the page's worker tells it. */
const COUNT = `(() => {
  globalThis.drawnThings = 0
  globalThis.Worker = class extends Worker {
    constructor(...all) {
      super(...all)
      this.addEventListener('message', ({ data }) => {
        for (const { changed } of data.things ?? []) globalThis.drawnThings += changed.length
      })
    }
  }
})()`

/** Playwright's own waiting makes code of text in the page, which the page's policy forbids. */
const WHOLE = `(async () => {
  while (drawnThings < ${THINGS}) {
    if (performance.now() > ${WAIT_MS}) throw new Error(drawnThings + ' Things were drawn')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return performance.now() / 1_000
})()`

/** Seconds since the navigation, once the board has rows. */
async function rowsOf(page: Page): Promise<number> {
  await page.locator('.row .amount').first().waitFor({ timeout: WAIT_MS })
  return page.evaluate<number>('performance.now() / 1_000')
}

/** Seconds since the navigation, once every Thing is there. */
async function wholeOf(page: Page): Promise<number> {
  return page.evaluate<number>(WHOLE)
}

async function metricOf(session: CDPSession, wanted: string): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === wanted)?.value ?? 0
}

async function heapMbOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  return (await metricOf(session, 'JSHeapUsedSize')) / 1e6
}

/** Milliseconds between frames for a time, in every second part of which the list is scrolled. */
const FRAMES = `async (forMs) => {
  const list = document.querySelector('.virtual')
  const gaps = []
  const began = performance.now()
  let last = await new Promise(requestAnimationFrame)
  for (;;) {
    const at = await new Promise(requestAnimationFrame)
    gaps.push(at - last)
    last = at
    if (at - began > forMs) return gaps
    if (Math.floor((at - began) / 1_000) % 2 === 1) list.scrollTop += 24
  }
}`
