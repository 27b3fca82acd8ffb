// The walk of a person: something opens, the verdict says so, its Event has a chart, a person
// acknowledges it, and the sensor closes it. By mouse, by keyboard and by touch, on a desk and on a
// phone, light and dark, in both languages.

import type { ExecutionContext } from 'ava'
import type { Browser, Locator } from 'playwright-core'

import { createClient } from '#src/client/client'
import { Person } from './console-person.ts'
import { TOKEN } from './gateway.ts'
import type { Gateway } from './gateway.ts'

const DESK = { width: 1440, height: 900 }
const PHONE = { width: 360, height: 740 }

type By = 'mouse' | 'keyboard' | 'touch'

interface Walker {
  readonly by: By
  readonly viewport: typeof DESK
  readonly colorScheme: 'light' | 'dark'
  readonly locale: string
}

const WALKERS: readonly Walker[] = [
  { by: 'mouse', viewport: DESK, colorScheme: 'light', locale: 'en-GB' },
  { by: 'keyboard', viewport: DESK, colorScheme: 'dark', locale: 'zh-CN' },
  { by: 'touch', viewport: PHONE, colorScheme: 'dark', locale: 'en-GB' },
  { by: 'mouse', viewport: PHONE, colorScheme: 'light', locale: 'zh-CN' },
  { by: 'keyboard', viewport: PHONE, colorScheme: 'light', locale: 'en-GB' },
  { by: 'touch', viewport: DESK, colorScheme: 'light', locale: 'zh-CN' },
]

/** What a rule watches: above the limit its Event is open. */
interface Watched {
  readonly channelId: string
  readonly password: string
  readonly attr: string
  readonly above: number
}

async function press(locator: Locator, by: By): Promise<void> {
  if (by === 'touch') await locator.tap()
  else if (by === 'mouse') await locator.click()
  else await locator.press('Enter')
}

/** Points at the middle of a chart, by the keyboard at its newest values. */
async function pointAt(chart: Locator, by: By): Promise<void> {
  if (by === 'keyboard') await chart.press('ArrowLeft')
  else if (by === 'mouse') await chart.hover()
  else await chart.tap()
}

/** Every walker goes the whole way. */
export async function walkToClosed(
  t: ExecutionContext,
  browser: Browser,
  gateway: Gateway,
  watched: Watched,
): Promise<void> {
  for (const [index, walker] of WALKERS.entries()) {
    await walkOf(t, browser, gateway, { ...watched, ...walker, thingId: `walked-${index}` })
  }
}

async function walkOf(
  t: ExecutionContext,
  browser: Browser,
  gateway: Gateway,
  {
    channelId,
    password,
    attr,
    above,
    by,
    thingId,
    ...looks
  }: Watched & Walker & { thingId: string },
): Promise<void> {
  const what = `${by}, ${looks.viewport.width} px, ${looks.colorScheme}, ${looks.locale}`
  const { thing } = createClient(gateway)
  const measure = async (value: number, agoMs: number): Promise<void> => {
    const observed_at = Date.now() - agoMs
    const proof = { channel_id: channelId, password }
    await thing.update({ ...proof, thing_id: thingId, observed_at, attrs: { [attr]: value } })
  }
  await measure(above - 2, 600_000)
  await measure(above + 3, 1_000)
  const person = await Person.at(browser, gateway.baseUrl, { ...looks, hasTouch: by === 'touch' })
  const { page } = person
  await page.goto(`${gateway.baseUrl}/console/#/open/${channelId}/${password}/${TOKEN}`)
  const verdict = page.locator('.verdict button.normal')
  await press(verdict, by)
  await page.waitForURL(/&open=normal/)
  await page.locator('.row', { hasText: thingId }).waitFor()
  const concern = page.locator('.attention a', { hasText: thingId })
  await press(concern, by)
  await page.locator('.event h1', { hasText: thingId }).waitFor()
  const chart = page.locator('.event .plot')
  await chart.locator('.curve').first().waitFor({ state: 'attached' })
  t.is(await chart.locator('.limit').count(), 1, `${what}: the limit of its rule`)
  await pointAt(chart, by)
  await page.locator('.event figcaption time').waitFor()
  await press(page.locator('.event > .actions .acknowledge button').first(), by)
  await page.locator('.event .holder').waitFor()
  await person.go(`#/${channelId}/overview`)
  await page.locator('.verdict .of').waitFor()
  t.is(await concern.count(), 0, `${what}: somebody has it`)
  await page.goBack()
  await page.locator('.event .holder').waitFor()
  await measure(above - 2, 0)
  await page.locator('.event .state.closed').waitFor()
  t.is(await page.locator('.event .acknowledge').count(), 0, `${what}: it is over`)
  const isWider = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
  t.false(await page.evaluate<boolean>(isWider), `${what}: no wider than the screen`)
  t.deepEqual(person.wrongs, [], what)
  await person.context.close()
}
