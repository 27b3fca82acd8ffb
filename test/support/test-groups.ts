// Which files of tests share a process. Node, AVA and the modules of the product take most of the
// processor time of a short file; together the files of a group load them once.

import { globSync } from 'node:fs'

/**
 * The folders of each group, which `test/groups` has a file for. A file of any other folder runs in
 * a process of its own.
 */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  acceptance: ['acceptance'],
  actors: ['actors', 'machines'],
  authorization: ['authorization'],
  bench: ['bench'],
  cli: ['cli'],
  client: ['client'],
  compat: ['compat'],
  contracts: ['contracts'],
  dispatch: ['dispatch', 'outbound', 'providers'],
  domain: ['config', 'console', 'domain', 'refusals', 'rules', 'schemas'],
  http: ['doors', 'http'],
  ingress: ['ingress'],
  mcp: ['mcp'],
  mqtt: ['mqtt'],
  runtime: ['process', 'runtime', 'stream/embedded', 'telemetry', 'threads'],
  store: ['store'],
  transports: ['transports'],
}

/** Files of these folders that need a process of their own, and why. */
export const ALONE: Readonly<Record<string, string>> = {
  'test/acceptance/cache-bytes.test.ts': 'measures the heap',
  'test/transports/framing.test.ts': 'measures the memory of buffers',
}

/** Every file of tests. */
export const EVERY_FILE: readonly string[] = globSync('test/**/*.test.ts', {
  cwd: new URL('../..', import.meta.url),
}).toSorted()

/** Returns the files that the group imports. */
export const filesOf = (group: string): readonly string[] =>
  EVERY_FILE.filter(
    (file) =>
      !Object.hasOwn(ALONE, file) &&
      GROUPS[group]?.some((folder) => file.startsWith(`test/${folder}/`)) === true,
  )

/**
 * Returns what AVA runs with its arguments: the groups and every file that is in none, or, where
 * they choose files or titles, every file by itself and the groups that they name.
 */
export function filesOfRun(args: readonly string[] = process.argv.slice(2)): readonly string[] {
  if (args.some((arg) => !arg.startsWith('-') || /^(-m|--match)/.test(arg))) {
    return ['test/**/*.test.ts', ...args.filter((arg) => arg.startsWith('test/groups/'))]
  }
  const groups = Object.keys(GROUPS)
  const grouped = new Set(groups.flatMap(filesOf))
  return [
    ...groups.map((group) => `test/groups/${group}.ts`),
    ...EVERY_FILE.filter((file) => !grouped.has(file)),
  ]
}
