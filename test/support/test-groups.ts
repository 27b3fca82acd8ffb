// Which files of tests share a process. Node, AVA and the modules of the product take most of the
// processor time of a short file; together the files of a group load them once.

import { globSync } from 'node:fs'

/** Files of `test/stories`. */
const stories = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `stories/${name}.test.ts`)

/**
 * The folders and files of each group, which `test/groups` has a file for. Any other file runs in a
 * process of its own.
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
  dev: ['dev'],
  dispatch: ['dispatch', 'outbound', 'providers'],
  documents: ['bounds', 'build', 'docs', 'invariants', 'layout', 'operations', 'readme'].map(
    (name) => `${name}.test.ts`,
  ),
  domain: ['config', 'console', 'domain', 'queries', 'refusals', 'rules', 'schemas'],
  http: ['doors', 'http'],
  ingress: ['ingress'],
  mcp: ['mcp'],
  mqtt: ['mqtt'],
  runtime: ['process', 'runtime', 'telemetry', 'threads'],
  // Short ones: of starts, kills and ends, and of what others have. The long ones begin alone.
  'stories-of-others': stories(
    'apprise',
    'assistant-grants',
    'assistants',
    'command-line',
    'command-line-devices',
    'compat-clients',
    'compat-curl',
    'compatibility',
    'devices',
    'first-hour',
    'history-tools',
    'hooks',
    'metric-series',
    'mqtt-conformance',
    'password-guessing',
  ),
  'stories-of-starts': stories(
    'carriers',
    'crash',
    'database-in-use',
    'demo-push',
    'fleet',
    'full-disk',
    'https',
    'mqtt',
    'mqtt-bridge',
    'rules',
    'shutdown',
    'take-over',
    'taken-port',
    'unusable-database',
    'web-push',
  ),
  store: ['store'],
  stream: ['stream'],
  transports: ['transports'],
}

/** Files of these folders that need a process of their own, and why. */
export const ALONE: Readonly<Record<string, string>> = {
  'test/acceptance/cache-bytes.test.ts': 'measures the heap',
  'test/transports/framing.test.ts': 'measures the memory of buffers',
}

/** The files that take longest, and so begin first: otherwise the run waits for the last of them. */
export const LONGEST: readonly string[] = [
  'test/simulation/simulation.test.ts',
  'test/stories/cluster.test.ts',
  'test/groups/contracts.ts',
  'test/groups/store.ts',
  'test/groups/stories-of-starts.ts',
  'test/groups/stories-of-others.ts',
  'test/package.test.ts',
  'test/stories/cluster-push.test.ts',
  'test/stories/console-views.test.ts',
  'test/stories/cluster-fence.test.ts',
  'test/stories/ended-keys.test.ts',
  'test/stories/replay.test.ts',
  'test/stories/cluster-database-away.test.ts',
  'test/groups/authorization.ts',
  'test/groups/mqtt.ts',
  'test/budget/budget.test.ts',
  'test/stories/push.test.ts',
  'test/stories/slow-device.test.ts',
  'test/stories/people.test.ts',
]

/** Every file of tests. */
export const EVERY_FILE: readonly string[] = globSync('test/**/*.test.ts', {
  cwd: new URL('../..', import.meta.url),
}).toSorted()

/** Returns the files that the group imports. */
export const filesOf = (group: string): readonly string[] =>
  EVERY_FILE.filter(
    (file) =>
      !Object.hasOwn(ALONE, file) &&
      GROUPS[group]?.some((part) => `${file}/`.startsWith(`test/${part}/`)) === true,
  )

/** Orders the files of a run, given by their paths: the longest first, the others by name. */
export function longestFirst(one: string, other: string): number {
  const rank = (path: string): number => {
    const at = LONGEST.findIndex((file) => path.endsWith(file))
    return at < 0 ? LONGEST.length : at
  }
  return rank(one) - rank(other) || one.localeCompare(other)
}

/**
 * Returns what AVA runs with its arguments: the groups and every file that is in none, or, where
 * they choose files or titles, every file by itself and the groups that they name.
 */
export function filesOfRun(args: readonly string[] = process.argv.slice(2)): readonly string[] {
  const isChoice = (arg: string, at: number): boolean =>
    args[at - 1] !== '--config' && (!arg.startsWith('-') || /^(-m|--match)/.test(arg))
  if (args.some(isChoice)) {
    return ['test/**/*.test.ts', ...args.filter((arg) => arg.startsWith('test/groups/'))]
  }
  const groups = Object.keys(GROUPS)
  const grouped = new Set(groups.flatMap(filesOf))
  return [
    ...groups.map((group) => `test/groups/${group}.ts`),
    ...EVERY_FILE.filter((file) => !grouped.has(file)),
  ]
}
