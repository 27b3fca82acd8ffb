// `npm run clients:all`: makes a client of each language from the document of a gateway, compiles
// it, and runs its program of docs/clients.md. It needs Java, Go, Maven, Cargo and their packages.
// Then Schemathesis sends a gateway what its document says. `-- java` does one of them.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { LANGUAGES, STORY, generate, story } from '#test/support/clients/generated'
import type { Language } from '#test/support/clients/generated'
import { schemathesis } from '#test/support/clients/schemathesis'
import { startGateway, temporaryFolder } from '#test/support/gateway'

const endings: (() => unknown)[] = []
const owner = { teardown: (end: () => unknown) => void endings.unshift(end) }

try {
  if (isWanted('schemathesis')) {
    process.exitCode = await schemathesis(owner, process.env['EXAMPLES'] ?? '200')
  }
  const languages = LANGUAGES.filter(({ name }) => isWanted(name))
  if (languages.length > 0) await runStories(languages)
} finally {
  for (const end of endings) await end()
}

/** Makes the clients, and prints what their programs print. */
async function runStories(languages: readonly Language[]): Promise<void> {
  const { baseUrl } = await startGateway(owner, { env: { SERVICE_TOKEN: '' } })
  const folder = await temporaryFolder(owner)
  const path = join(folder, 'openapi.json')
  const document = await fetch(`${baseUrl}/openapi.json`)
  writeFileSync(path, await document.text())
  await generate(languages, path, folder)
  for (const language of languages) {
    const begun = performance.now()
    const printed = await story(language, folder, baseUrl).catch(
      ({ stdout, stderr }: { readonly stdout?: string; readonly stderr?: string }) =>
        `failed\n${stdout}${stderr}`,
    )
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    process.stdout.write(`${language.name}: ${printed} (${seconds} s)\n`)
    if (printed !== STORY) process.exitCode = 1
  }
}

/** The words behind the command name languages; without any all are wanted. */
function isWanted(name: string): boolean {
  const words = process.argv.slice(2)
  return words.length === 0 || words.includes(name.toLowerCase())
}
