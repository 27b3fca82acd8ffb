// Goal: what the console says is true at a computer whose clock is an hour off, and in a browser one
// of whose keys has ended, and where a read fails; texts of any length leave room for what stands beside them.

import test from 'ava'
import type { ExecutionContext } from 'ava'
import type { Browser } from 'playwright-core'

import { createClient } from '#src/client/client'
import { TEST_MS } from '#test/support/bounds'
import { openBrowser } from '#test/support/browser'
import { Person } from '#test/support/console-person'
import { PASSWORD } from '#test/support/device'
import { TOKEN, startGateway } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'

const HOUR_MS = 3_600_000

/** A clock that is off by so much. */
const clockOff = (ms: number): string => `{
  const own = Date.now.bind(Date)
  globalThis.Date = class extends Date {
    constructor(...given) { given.length === 0 ? super(own() + ${ms}) : super(...given) }
    static now() { return own() + ${ms} }
  }
}`

/** A browser and a gateway; undefined where there is no browser. */
async function begin(t: ExecutionContext) {
  t.timeout(TEST_MS)
  const browser = await openBrowser(t)
  return browser === undefined ? undefined : { browser, gateway: await startGateway(t) }
}

/** Makes a channel; `proof` opens it. */
async function greenhouse(gateway: Gateway) {
  const { channel, event, thing } = createClient(gateway)
  const { channel_id } = await channel.create({ channel_name: 'Greenhouse', password: PASSWORD })
  return { channel_id, event, thing, proof: { channel_id, password: PASSWORD } }
}

async function openAt(
  browser: Browser,
  gateway: Gateway,
  channels: readonly (readonly [id: string, secret: string])[],
  script = '',
): Promise<Person> {
  // A request that the service worker sees would not be held up by a test.
  const person = await Person.at(browser, gateway.baseUrl, { serviceWorkers: 'block' })
  await person.context.addInitScript(script)
  await person.page.goto(`${gateway.baseUrl}/console/`)
  for (const [id, secret] of channels) {
    await person.go(`#/open/${id}/${secret}/${TOKEN}`)
    await person.page.waitForURL(`**/#/${id}/overview`)
  }
  return person
}

test('ages are those of the clock of the gateway', async (t) => {
  const begun = await begin(t)
  if (begun === undefined) return
  const { browser, gateway } = begun
  const { channel_id, thing, proof } = await greenhouse(gateway)
  const update = { ...proof, attrs: { temperature: 20 } }
  for (const offMs of [-HOUR_MS, HOUR_MS]) {
    const fresh = { ...update, observed_at: Date.now() }
    await thing.update({ ...fresh, thing_id: 'now' })
    await thing.update({ ...update, thing_id: 'late', observed_at: Date.now() - HOUR_MS / 2 })
    const person = await openAt(browser, gateway, [[channel_id, PASSWORD]], clockOff(offMs))
    const age = (id: string) => person.page.locator('.row', { hasText: id }).locator('.age')
    await age('late').filter({ hasText: '30 min ago' }).waitFor()
    await age('now')
      .filter({ hasText: /^now|^\d+ s ago/ })
      .waitFor()
    t.deepEqual(person.wrongs, [])
    await person.context.close()
  }
})

test('a channel whose key has ended says so, and the others of the browser stay live', async (t) => {
  const begun = await begin(t)
  if (begun === undefined) return
  const { browser, gateway } = begun
  const { channel, key, thing } = createClient(gateway)
  const [ended, other] = await Promise.all(
    ['Ended', 'Other'].map(async (channel_name) => {
      const { channel_id } = await channel.create({ channel_name, password: PASSWORD })
      const proof = { channel_id, password: PASSWORD }
      await thing.update({ ...proof, thing_id: 'boiler', observed_at: Date.now() })
      return { ...proof, ...(await key.create(proof)) }
    }),
  )
  if (ended === undefined || other === undefined) return t.fail()
  const channels = [ended, other].map((each) => [each.channel_id, each.key] as const)
  const person = await openAt(browser, gateway, channels)
  await person.reads('Live')
  await person.go(`#/${ended.channel_id}/overview`)
  await person.reads('boiler')
  const { channel_id, password, key_id } = ended
  await key.revoke({ channel_id, password, key_id })
  await person.page.reload()
  await person.reads('The gateway does not let this browser follow the channel.')
  await person.reads('Live')
  await person.go(`#/${other.channel_id}/overview`)
  await person.reads('boiler')
  // A new key opens it again.
  const again = await key.create({ channel_id, password })
  await person.go(`#/open/${channel_id}/${again.key}/${TOKEN}`)
  await person.reads('boiler')
  await person.page.getByText('does not let this browser').waitFor({ state: 'hidden' })
  t.deepEqual(person.wrongs, [])
})

test('counts are those of the gateway: none while it is asked, and at least so many of a part', async (t) => {
  const begun = await begin(t)
  if (begun === undefined) return
  const { browser, gateway } = begun
  const { channel_id, thing, proof } = await greenhouse(gateway)
  const update = { ...proof, observed_at: Date.now() }
  await thing.update({ ...update, thing_id: 'one' })
  await thing.update({ ...update, thing_id: 'two', location_type: 'geo', location_value: '1,1' })
  const { page } = await openAt(browser, gateway, [[channel_id, PASSWORD]])
  const [verdict, sum] = [page.locator('.verdict'), page.locator('.wishes > .sum')]
  await verdict.filter({ hasText: 'Things: 2.' }).waitFor()
  const asked = Promise.withResolvers<void>()
  await page.route('**/thing/query', async (route) => {
    await asked.promise
    await route.continue()
  })
  const search = page.getByRole('combobox', { name: 'Search' })
  await search.fill('near:1,1,5km')
  await sum.filter({ hasText: 'Loading' }).waitFor()
  asked.resolve()
  await sum.filter({ hasText: '1 of 2 Things' }).waitFor()
  await page.unroute('**/thing/query')
  const data = { items: [{ thing_id: 'two' }], next_cursor: 'more' }
  await page.route('**/thing/query', (route) => route.fulfill({ json: { success: true, data } }))
  await search.fill('near:1,1,6km')
  await sum.filter({ hasText: 'At least 1 of 2 Things' }).waitFor()
  await search.fill('')
  // One that comes is counted in the first line as soon as in the list.
  await thing.update({ ...update, thing_id: 'three' })
  await sum.filter({ hasText: 'Things: 3' }).waitFor()
  t.regex(await verdict.innerText(), /Things: 3\./)
})

test('Events of a Thing that cannot be read are not said to be none', async (t) => {
  const begun = await begin(t)
  if (begun === undefined) return
  const { browser, gateway } = begun
  const { channel_id, thing, proof } = await greenhouse(gateway)
  for (const thing_id of ['boiler', 'valve']) {
    await thing.update({ ...proof, thing_id, observed_at: Date.now() })
  }
  const person = await openAt(browser, gateway, [[channel_id, PASSWORD]])
  const { page } = person
  const isWell = page.locator('.state.good')
  const [none, problem] = [page.getByText('None that is kept.'), page.getByRole('alert')]
  const asked = Promise.withResolvers<void>()
  await page.route('**/event/list', async (route) => {
    await asked.promise
    const refusal = { success: false, error_code: 'server_busy', message: 'not now' }
    await route.fulfill({ status: 503, json: refusal })
  })
  await person.go(`#/${channel_id}/thing/boiler`)
  const section = page.locator('section', { hasText: 'Events' })
  await section.getByText('Loading').waitFor()
  t.false(await none.isVisible())
  asked.resolve()
  await problem.filter({ hasText: /./ }).waitFor()
  t.false(await none.isVisible())
  t.false(await isWell.isVisible())
  await page.unroute('**/event/list')
  await person.go(`#/${channel_id}/thing/valve`)
  await none.waitFor()
  t.true(await isWell.isVisible())
  t.false(await problem.isVisible())
  t.deepEqual(person.wrongs, [])
})

const LINE_PX = 25
/** Of each row its width, that of its title, the height of that, and what its badge covers of it. */
const rowsOf = (row: string, title: string): string => `[...document.querySelectorAll('${row}')]
  .map((row) => {
    const [box, badge] = [row, row.querySelector('.severity')].map((each) =>
      each.getBoundingClientRect())
    const { left, width, height } = row.querySelector('${title}').getBoundingClientRect()
    return [box.width, width, height, Math.min(badge.right, left + width) - Math.max(badge.left, left)]
  })`

/** How many numbers of the table are cut. */
const CUT_NUMBERS = `[...document.querySelectorAll('.row .number .amount')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1).length`

test('an Event has room for its title beside a severity of any length, and three lines for it at most', async (t) => {
  const begun = await begin(t)
  if (begun === undefined) return
  const { browser, gateway } = begun
  const { channel_id, event, thing, proof } = await greenhouse(gateway)
  const created = { ...proof, event_time: Date.now(), thing_id: 'tank' }
  const message = 'The pump runs dry. '.repeat(20)
  const long = 'x'.repeat(2_000)
  const attrs = { level_percent: 81.25, mode: 'a word that is long', on: true }
  const tank = { ...proof, thing_id: 'tank', title: long, attrs }
  for (const agoMs of [60_000, 0]) await thing.update({ ...tank, observed_at: Date.now() - agoMs })
  await event.update({ ...created, event_id: 'long', title: long, severity: 'critical' })
  for (const title of ['Pump', 'Level of the tank '.repeat(20)]) {
    await event.create({ ...created, title, message, severity: 'a text of its own' })
  }
  const person = await openAt(browser, gateway, [[channel_id, PASSWORD]])
  for (const [view, row, title] of [
    ['overview', '.attention li', 'a'],
    ['events', '.event-row > a', '.what'],
  ] as const) {
    await person.go(`#/${channel_id}/${view}`)
    await person.page.locator(row).nth(2).waitFor()
    for (const width of [1440, 900, 768, 360]) {
      await person.page.setViewportSize({ width, height: 900 })
      const rows = await person.page.evaluate<readonly number[][]>(rowsOf(row, title))
      for (const [inAll = 0, wide = 0, high = 0, covered = 0] of rows) {
        t.true(wide > inAll / 4, `${view} at ${width} px: ${wide} of ${inAll} px are the title's`)
        t.true(high < (view === 'events' ? 7 : 4) * LINE_PX, `${view} at ${width} px: ${high} px`)
        t.true(covered <= 0, `${view} at ${width} px: a badge covers ${covered} px of the title`)
      }
      t.is(await person.page.evaluate<number>(CUT_NUMBERS), 0, `${view} at ${width} px`)
    }
  }
  for (const place of ['thing/tank', 'event/long']) {
    await person.go(`#/${channel_id}/${place}`)
    const heading = person.page.getByRole('heading', { level: 1 })
    await heading.getByRole('button').waitFor()
    t.true(((await heading.textContent()) ?? '').length < 200, place)
    for (const link of await person.page.locator('.sum > a').all()) {
      t.true(((await link.boundingBox())?.height ?? 0) < 4 * LINE_PX, place)
    }
    await heading.getByRole('button').click()
    await heading.getByText(long).waitFor()
  }
})
