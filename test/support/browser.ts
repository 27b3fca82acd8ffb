// Debian's chromium, and a server of pages that load the SDK as a browser does: module by module,
// types stripped, with an import map for the names between its folders.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

import type { ExecutionContext } from 'ava'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'

import { findOrInstall } from '#src/dev/servers/programs'

const ROOT = new URL('../..', import.meta.url).pathname

/**
 * A browser that ends with the test. Where chromium cannot be had the test says why and passes;
 * under CI=true it fails.
 */
export async function openBrowser(t: ExecutionContext): Promise<Browser | undefined> {
  const found = await findOrInstall('chromium', process.env)
  if (found.kind === 'found') {
    // Its sandbox needs rights that a container does not give.
    const options = { executablePath: found.file, args: ['--no-sandbox'] }
    const browser = await chromium.launch(options)
    t.teardown(() => browser.close())
    return browser
  }
  if (process.env['CI'] === 'true') throw new Error(found.reason)
  t.log(`not run: ${found.reason}`)
  t.pass()
  return undefined
}

/** Serves an empty page that may import the SDK as `heliograph`; gives its address. */
export async function servePages(t: ExecutionContext): Promise<string> {
  const imports = importsFrom('src/client/index.ts')
  const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`
  const server = createServer(({ url = '/' }, response) => {
    const isScript = url.startsWith('/src/')
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? scriptOf(url.slice(1)) : page)
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const scriptOf = (file: string): string =>
  stripTypeScriptTypes(readFileSync(join(ROOT, file), 'utf8'))

/** The name `from` may stand in a text, too. */
const IMPORT = /(?<!')(?:from|import)\s*'([^']+)'/g

/** The files behind all names that the file, or a file it imports, imports from other folders. */
function importsFrom(file: string): Record<string, string> {
  const imports: Record<string, string> = { heliograph: `/${file}` }
  const visit = (path: string, seen: Set<string>): void => {
    if (seen.has(path)) return
    seen.add(path)
    for (const [, name = ''] of scriptOf(path).matchAll(IMPORT)) {
      const target = targetOf(path, name)
      if (name.startsWith('#')) imports[name] = `/${target}`
      visit(target, seen)
    }
  }
  visit(file, new Set())
  return imports
}

function targetOf(path: string, name: string): string {
  if (name.startsWith('./')) return join(path, '..', name)
  return `${name.replace(/^#domain\//, 'src/domain/').replace(/^#/, '')}.ts`
}
