// Makes the pictures of the console in the README, from the demo: `npm run pictures`.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { chromium } from 'playwright-core'

import { findOrInstall } from '#src/dev/servers/programs'

const ROOT = new URL('../..', import.meta.url).pathname
/** The lines of the board need some points. */
const READINGS_MS = 45_000
const HOST = join(ROOT, 'test/support/picture-host.ts')

const found = await findOrInstall('chromium', process.env)
if (found.kind !== 'found') throw new Error(found.reason)
const main = join(ROOT, 'src/cli/heliograph.ts')
// The Event of the demo is open while the load is above the threshold.
const demo = spawn(
  process.execPath,
  [...process.execArgv, '--import', HOST, main, 'demo', '--plain', '--threshold', '1'],
  {
    stdio: ['ignore', 'ignore', 'pipe'],
  },
)
try {
  const browser = await chromium.launch({ executablePath: found.file, args: ['--no-sandbox'] })
  const page = await browser.newPage({ viewport: { width: 1200, height: 720 }, locale: 'en-GB' })
  for await (const line of createInterface({ input: demo.stderr })) {
    const address = /console: (\S+)/.exec(line)?.[1]
    if (address === undefined) continue
    await page.goto(address)
    break
  }
  await page.getByRole('region').getByRole('link').first().waitFor()
  await page.waitForTimeout(READINGS_MS)
  await page.screenshot({ path: join(ROOT, 'docs/console-board.png') })
  await page.getByRole('link', { name: /^Events/ }).click()
  await page.getByRole('main').getByRole('listitem').first().getByRole('link').click()
  await page.getByRole('heading', { level: 2 }).waitFor()
  await page.waitForTimeout(1_000)
  await page.screenshot({ path: join(ROOT, 'docs/console-event.png') })
  await browser.close()
} finally {
  demo.kill('SIGINT')
}
