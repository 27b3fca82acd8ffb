// What a person does at the overview of a channel with one Thing, boiler-1, and the Event
// 'Pressure too low': by keyboard, and then on a display on the wall. `overview` is its address.

import type { ExecutionContext } from 'ava'

import type { Person } from './console-person.ts'

/** / searches, g and a letter goes, Ctrl-K jumps; the address has what was asked of a view. */
export async function keysOfThePage(
  t: ExecutionContext,
  person: Person,
  overview: string,
): Promise<void> {
  const { page } = person
  await person.go(overview)
  await page.locator('.row', { hasText: 'boiler-1' }).waitFor()
  const search = page.getByRole('combobox', { name: 'Search' })
  await page.keyboard.press('/')
  await page.keyboard.type('temp')
  await page.getByRole('option', { name: 'temperature' }).waitFor()
  t.deepEqual(await person.findings(), [], 'what may stand there')
  for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key)
  await page.keyboard.type('>')
  await page.getByText('A value stands behind it').waitFor()
  await page.keyboard.type('200')
  await page.getByRole('button', { name: 'Save this search' }).press('Enter')
  await page.getByRole('heading', { name: 'No Thing matches' }).waitFor()
  await search.fill('boiler')
  await page.waitForURL(/&search=boiler$/)
  await page.reload()
  t.is(await search.inputValue(), 'boiler')
  await page.getByRole('button', { name: 'temperature >200', exact: true }).press('Enter')
  await page.waitForURL(/search=temperature/)
  await Promise.all(['g', 'e'].map((key) => page.keyboard.press(key)))
  await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByLabel('Its id or title').pressSequentially('boil')
  await page.keyboard.press('Enter')
  await page.waitForURL(/thing\/boiler-1$/)
}

/** Open, verdict, acknowledged: then nothing needs attention, and the verdict says so. */
export async function fromVerdictToWall(
  t: ExecutionContext,
  person: Person,
  overview: string,
): Promise<void> {
  const { page } = person
  await person.go(overview)
  const attention = page.getByRole('region', { name: 'Needs attention' })
  await attention.getByRole('link', { name: 'Pressure too low' }).waitFor()
  for (const taken of await attention.getByRole('button', { name: 'Acknowledge' }).all()) {
    await taken.press('Enter')
  }
  await attention.waitFor({ state: 'detached' })
  await page.getByText('of them acknowledged').waitFor()
  await person.go(`${overview}&wall`)
  await page.locator('.wall .tile').first().waitFor()
  t.is(await page.locator('header, nav, button:visible:not(.trouble)').count(), 0, 'no controls')
  t.is(await page.locator('html').getAttribute('data-theme'), 'dark')
  t.deepEqual(await person.findings(), [], 'a display on the wall')
}
