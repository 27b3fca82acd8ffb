// A person at the console in a real browser.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import type { Browser, BrowserContext, Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')

/** A person at a browser, who notes what the page must not do. */
export class Person {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of the page, refusals of its policy, and requests to other places. */
  readonly wrongs: string[] = []
  readonly urls: string[] = []

  private constructor(page: Page, origin: string) {
    this.page = page
    this.context = page.context()
    page.on('pageerror', ({ message }) => this.wrongs.push(message))
    page.on('dialog', (dialog) => {
      this.wrongs.push(dialog.message())
      void dialog.dismiss()
    })
    page.on('console', (line) => {
      if (/Content Security|TrustedScript/.test(line.text())) this.wrongs.push(line.text())
    })
    page.on('request', (request) => {
      this.urls.push(request.url())
      if (new URL(request.url()).origin !== origin) this.wrongs.push(request.url())
    })
  }

  static async at(browser: Browser, origin: string, more: object = {}): Promise<Person> {
    const context = await browser.newContext({ locale: 'en-GB', ...more })
    return new Person(await context.newPage(), origin)
  }

  /** Goes to a view, which is there once this resolves. */
  async go(view: string): Promise<void> {
    await this.page.evaluate(`new Promise((resolve) => {
      const hash = ${JSON.stringify(view)}
      if (location.hash === hash) return resolve()
      addEventListener('hashchange', resolve, { once: true })
      location.hash = hash
    }).then(() => {})`)
  }

  reads(text: string | RegExp): Promise<void> {
    return this.page.getByText(text).first().waitFor()
  }

  /** Chooses appearance and language in the menu of the frame, which it closes again. */
  async choose(look: 'light' | 'dark', language: 'en' | 'zh-CN'): Promise<void> {
    const menu = this.page.locator('.looks')
    await menu.getByRole('button').click()
    await menu.locator('select').nth(1).selectOption(look)
    await menu.locator('select').nth(0).selectOption(language)
    await menu.getByRole('button').press('Escape')
  }

  /** What axe finds on the page: the rules, each with the first place. */
  async findings(): Promise<readonly string[]> {
    if (!(await this.page.evaluate<boolean>("'axe' in globalThis"))) await this.page.evaluate(AXE)
    const { violations } = await this.page.evaluate<{
      readonly violations: readonly {
        readonly id: string
        readonly nodes: readonly { readonly html: string }[]
      }[]
    }>("axe.run({ resultTypes: ['violations'] })")
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`)
  }
}
