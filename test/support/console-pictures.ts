// Makes the pictures of the console in README.md and docs/console.md, of a fleet at the gateway of
// the demo: `npm run pictures`.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { chromium } from 'playwright-core'

import { createClient } from '#src/client/client'
import { findOrInstall } from '#src/dev/servers/programs'
import { linkTo, makeFleet, runFleet } from './console-fleet.ts'

const ROOT = new URL('../..', import.meta.url).pathname
/** The lines of the overview need some points, and the rule about silence its minute. */
const READINGS_MS = 75_000

const found = await findOrInstall('chromium', process.env)
if (found.kind !== 'found') throw new Error(found.reason)
const main = join(ROOT, 'src/cli/heliograph.ts')
const demo = spawn(process.execPath, [...process.execArgv, main, 'demo', '--plain'], {
  stdio: ['ignore', 'ignore', 'pipe'],
})

/** The address of the demo's gateway and its token, from the link that it prints. */
async function gatewayOfDemo(): Promise<{ readonly baseUrl: string; readonly token: string }> {
  for await (const line of createInterface({ input: demo.stderr })) {
    const [, baseUrl, token] = /console: (\S+)\/console\/#\S*\/([^/\s]+)$/.exec(line) ?? []
    if (baseUrl !== undefined && token !== undefined) return { baseUrl, token }
  }
  throw new Error('the demo has no gateway')
}

const stop = new AbortController()
try {
  const gateway = await gatewayOfDemo()
  const client = createClient(gateway)
  const fleet = await makeFleet(client, 'pictures-of-a-fleet')
  const running = runFleet(client, fleet, stop.signal)
  const browser = await chromium.launch({ executablePath: found.file, args: ['--no-sandbox'] })
  const page = await browser.newPage({ viewport: { width: 1200, height: 680 }, locale: 'en-GB' })
  await page.goto(linkTo(fleet, gateway))
  await page.getByRole('region').getByRole('link').first().waitFor()
  await page.waitForTimeout(READINGS_MS)
  await page.screenshot({ path: join(ROOT, 'docs/console-overview.png') })
  await page.getByRole('link', { name: /^Events/ }).click()
  await page.locator('.event-row a').first().click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForTimeout(2_000)
  await page.screenshot({ path: join(ROOT, 'docs/console-event.png') })
  await browser.close()
  stop.abort()
  await running
} finally {
  stop.abort()
  demo.kill('SIGINT')
}
