// Runs the files of a group in this process: each imports AVA, and is handed the `test` of
// group-test.ts in its place.

import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

import '#src/http/uws-environment'
import { filesOf } from '#test/support/test-groups'

const TEST_OF_GROUP = new URL('group-test.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, resolveNext) =>
    specifier === 'ava' && context.parentURL !== TEST_OF_GROUP
      ? resolveNext(TEST_OF_GROUP, context)
      : resolveNext(specifier, context),
})

/** Imports the files of a group one after the other and declares their tests. */
export async function runGroup(group: string): Promise<void> {
  // Only a process that runs a group has AVA.
  const { beginFile, declareAll } = await import('#test/support/group-test')
  for (const file of filesOf(group)) {
    beginFile(file)
    await import(pathToFileURL(file).href)
  }
  declareAll()
}
