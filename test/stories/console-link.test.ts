// Goal: a link of somebody else does not replace the gateway token of a browser unless the person
// says so; one with the same token, and one at a browser without any, opens its channel at once.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { createClient } from '#src/client/client'
import { TEST_MS } from '#test/support/bounds'
import { openBrowser } from '#test/support/browser'
import { Person } from '#test/support/console-person'
import { PASSWORD } from '#test/support/device'
import { TOKEN, startGateway } from '#test/support/gateway'

const OTHER = 'a-token-of-somebody-else'
const QUESTION = 'The link brings another gateway token'
const KEPT = `JSON.parse(localStorage.getItem('heliograph console')).token`

test('a link replaces the gateway token of a browser only when the person says so', async (t) => {
  t.timeout(TEST_MS)
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const gateway = await startGateway(t)
  const { channel } = createClient(gateway)
  const { channel_id } = await channel.create({ channel_name: 'Greenhouse', password: PASSWORD })
  const person = await Person.at(browser, gateway.baseUrl)
  const { page } = person
  const linkWith = (token: string): string => `#/open/${channel_id}/${PASSWORD}/${token}`
  const overview = page.getByRole('heading', { name: 'No Thing yet' })
  const question = page.getByRole('heading', { name: QUESTION })

  await page.goto(`${gateway.baseUrl}/console/${linkWith(TOKEN)}`)
  await overview.waitFor()
  t.is(await page.evaluate(KEPT), TOKEN, 'the first one')
  await person.go('#/start')
  await person.go(linkWith(TOKEN))
  await overview.waitFor()

  await person.go(linkWith(OTHER))
  await question.waitFor()
  await looksRight(t, person)
  t.is(await page.evaluate(KEPT), TOKEN)
  t.notRegex(page.url(), /open/)
  await page.getByRole('button', { name: 'Keep my token' }).press('Enter')
  await overview.waitFor()
  t.is(await page.evaluate(KEPT), TOKEN)

  // Each link asks anew.
  await person.go(linkWith(OTHER))
  await question.waitFor()
  await page.getByRole('button', { name: 'Replace it' }).press('Enter')
  await person.reads('The link does not open a channel')
  t.is(await page.evaluate(KEPT), OTHER)
  await person.go(linkWith(TOKEN))
  await question.waitFor()
  await page.getByRole('button', { name: 'Replace it' }).press('Enter')
  await overview.waitFor()
  t.is(await page.evaluate(KEPT), TOKEN)
  t.deepEqual(person.wrongs, [])

  // Another channel is opened while the session of a new tab begins with the first one.
  const cellar = await channel.create({ channel_name: 'Cellar', password: PASSWORD })
  const tab = await person.context.newPage()
  const opened = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  await tab.route('**/channel/subscribe', async (route) => {
    begun.resolve()
    await opened.promise
    await route.continue()
  })
  await tab.goto(`${gateway.baseUrl}/console/`)
  await begun.promise
  await tab.goto(`${gateway.baseUrl}/console/#/open/${cellar.channel_id}/${PASSWORD}/${TOKEN}`)
  await tab.waitForURL(/overview$/)
  opened.resolve()
  await tab.getByRole('heading', { name: 'No Thing yet' }).waitFor()

  // It has the new name of a channel at once, and says why it cannot list.
  const proof = { channel_id: cellar.channel_id, password: PASSWORD }
  await channel.rename({ ...proof, channel_name: 'Attic' })
  await tab.locator('header option', { hasText: 'Attic' }).waitFor({ state: 'attached' })
  await tab.route(/(key|subscriber)\/list$|channel\/info$/, (route) =>
    route.fulfill({ status: 404, json: { success: false, error: 'gone', error_code: 'gone' } }),
  )
  await tab.goto(`${gateway.baseUrl}/console/#/${cellar.channel_id}/channel`)
  await tab.locator('.card > .problem').nth(2).waitFor()
  t.is(await tab.getByText(/^No key yet|^No device follows/).count(), 0)
})

/** Axe finds nothing on the question: on a phone and on a desk, light and dark, in both languages. */
async function looksRight(t: ExecutionContext, person: Person): Promise<void> {
  const { page } = person
  for (const width of [1200, 360]) {
    await page.setViewportSize({ width, height: 740 })
    for (const look of ['dark', 'light'] as const) {
      for (const language of ['zh-CN', 'en'] as const) {
        await person.choose(look, language)
        t.deepEqual(await person.findings(), [], `${width} px, ${look}, ${language}`)
      }
    }
  }
}
