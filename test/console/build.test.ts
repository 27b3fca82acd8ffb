// Goal: the console stays small, and its page runs under the policy that it is served with.
// Method: build it into a folder of the test's own.

import { execFile } from 'node:child_process'
import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import test from 'ava'

import { temporaryFolder } from '#test/support/gateway'

const BUILD = new URL('../../.ci/build-console.js', import.meta.url).pathname
/** Script and style of the first view and of the workers, as a browser that asks for gzip gets them. */
const FIRST_BYTES_MAX = 90_000
/** With the views that are loaded at their first use: all that a person in one language loads. */
const ALL_BYTES_MAX = 120_000

const STATIC_IMPORT = /(?:\bfrom|\bimport)\s*"\.\/([\w-]+\.js)"/g

/** A script and what it imports at once, by their names. */
async function loadedWith(folder: string, script: string, known = new Set<string>()) {
  if (known.has(script)) return known
  known.add(script)
  const text = await readFile(join(folder, script), 'utf8')
  for (const [, name = ''] of text.matchAll(STATIC_IMPORT)) await loadedWith(folder, name, known)
  return known
}

test('the console takes at most 120 KB compressed, and the page has nothing inline', async (t) => {
  const folder = join(await temporaryFolder(t), 'console')
  // Not the flags of this process: the script is JavaScript.
  await promisify(execFile)('node', [BUILD, folder])
  const names = await readdir(folder)
  const sizeOf = async (wanted: readonly string[]): Promise<number> => {
    const sizes = await Promise.all(
      wanted.map(async (name) => (await stat(join(folder, `${name}.gz`))).size),
    )
    return sizes.reduce((sum, size) => sum + size, 0)
  }
  const all = names.filter((name) => /\.(js|css)$/.test(name))
  const script = all.find((name) => /^main-.*\.js$/.test(name)) ?? ''
  const atOnce = await loadedWith(folder, script)
  const first = all.filter((name) => atOnce.has(name) || !/^(main|part)-.*\.js$/.test(name))
  // One of the languages is in the parts that are loaded later, and is always there.
  const { EN, ZH_CN } = {
    ...(await import('#console/words/en.ts')),
    ...(await import('#console/words/zh-cn.ts')),
  }
  const texts = await Promise.all(all.map((name) => readFile(join(folder, name), 'utf8')))
  const languageWith = (text: string): string =>
    all.find((_, at) => texts[at]?.includes(text)) ?? 'no part has that language'
  const languages = [languageWith(EN.errorAway), languageWith(ZH_CN.errorAway)]
  const [english = 0, chinese = 0] = await Promise.all(languages.map((name) => sizeOf([name])))
  const firstBytes = (await sizeOf(first)) + Math.max(english, chinese)
  const allBytes = (await sizeOf(all)) - Math.min(english, chinese)
  t.log(`${firstBytes} bytes at once, ${allBytes} in all`)
  t.true(atOnce.size > 1, 'the script has parts')
  t.true(firstBytes > 10_000 && firstBytes <= FIRST_BYTES_MAX, `${firstBytes} bytes`)
  t.true(allBytes <= ALL_BYTES_MAX, `${allBytes} bytes`)
  t.deepEqual(
    names.filter((name) => name.endsWith('.br')).length,
    names.filter((name) => name.endsWith('.gz')).length,
  )
  const page = await readFile(join(folder, 'index.html'), 'utf8')
  t.regex(page, /<script type="module" src="main-[A-Z0-9]{8}\.js">/)
  t.notRegex(page, /<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/)
  for (const name of page.matchAll(/(?:src|href|data-session)="([^"]+)"/g))
    t.true(names.includes(name[1] ?? ''))
})
