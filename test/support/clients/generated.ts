// Clients that openapi-generator makes of the document, and the program of docs/clients.md that each
// of them runs.

import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { blocksOf } from '#test/support/document-blocks'
import { clientProgram, generatorJar } from '#test/support/clients/programs'

export interface Language {
  readonly name: string
  readonly generator: string
  /** Options of the generator, in the form of its batches. */
  readonly options?: Readonly<Record<string, unknown>>
  /** The fence of its program in docs/clients.md. */
  readonly fence: string
  /** The place of the program below the client. */
  readonly file: string
  /** What a machine needs to run it. */
  readonly needs: string
  /** Compiles and runs it in a shell, in the folder of the client. */
  readonly run: string
}

const GO = {
  gitUserId: 'example',
  gitRepoId: 'heliograph',
  additionalProperties: { packageName: 'heliograph' },
}

export const PYTHON: Language = {
  name: 'Python',
  generator: 'python',
  fence: 'python',
  file: 'story.py',
  needs: 'python3',
  run: `${clientProgram('python')} story.py`,
}
export const GO_LANGUAGE: Language = {
  name: 'Go',
  generator: 'go',
  options: GO,
  fence: 'go',
  file: 'story/main.go',
  needs: 'go',
  run: 'go run ./story',
}
export const LANGUAGES: readonly Language[] = [
  PYTHON,
  GO_LANGUAGE,
  {
    name: 'Java',
    generator: 'java',
    options: {
      nameMappings: { equals: 'equalTo' },
      additionalProperties: { containerDefaultToNull: true },
    },
    fence: 'java',
    file: 'src/main/java/Story.java',
    needs: 'mvn',
    // Maven resets colours that it was told not to use.
    run:
      '{ mvn -q -DskipTests compile && mvn -q exec:java -Dexec.mainClass=Story; } ' +
      String.raw`| sed "s/\x1b\[[0-9;]*m//g"`,
  },
  {
    name: 'Rust',
    generator: 'rust',
    options: { additionalProperties: { packageName: 'heliograph', supportAsync: false } },
    fence: 'rust',
    file: 'examples/story.rs',
    needs: 'cargo',
    run: 'cargo run -q --example story',
  },
  {
    name: 'TypeScript',
    generator: 'typescript-fetch',
    fence: 'ts',
    file: '../story.ts',
    needs: 'node',
    run:
      'cd .. && tsc --noEmit --module esnext --moduleResolution bundler --target es2022 ' +
      '--lib es2022,dom --types "" story.ts && ' +
      'esbuild --bundle --format=esm --log-level=warning story.ts --outfile=story.mjs && node story.mjs',
  },
]

/** Go compiles its library anew on a fresh machine: without optimizing it takes a quarter less. */
export const QUICK_GO = { GOFLAGS: "'-gcflags=all=-N -l'" } as const

const PROGRAMS = new URL('../../../node_modules/.bin', import.meta.url).pathname
const DEADLINE_MS = 1_800_000
const run = promisify(execFile)

/**
 * Makes a client of each language in a folder of its name, all by one process. `document` is the
 * path of the OpenAPI document.
 */
export async function generate(
  languages: readonly Language[],
  document: string,
  folder: string,
): Promise<void> {
  const batches = languages.map(({ generator, options }) => {
    const outputDir = join(folder, generator, 'client')
    const batch = join(folder, `${generator}.json`)
    const facts = { generatorName: generator, inputSpec: document, outputDir, ...options }
    writeFileSync(batch, JSON.stringify(facts))
    return batch
  })
  // What is compiled for so short a run pays off with the first of the two compilers alone.
  await run(
    'java',
    ['-XX:TieredStopAtLevel=1', '-jar', generatorJar() ?? '', 'batch', ...batches],
    {
      timeout: DEADLINE_MS,
      maxBuffer: 2 ** 26,
    },
  )
}

/** Runs the program of docs/clients.md over the generated client; returns what it prints. */
export async function story(
  { name, generator, fence, file, run: command }: Language,
  folder: string,
  baseUrl: string,
): Promise<string> {
  const client = join(folder, generator, 'client')
  const program = blocksOf('docs/clients.md', `### ${name}`, fence).join('\n')
  const path = join(client, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, program.replaceAll('http://127.0.0.1:8080', baseUrl))
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', command], {
    cwd: client,
    timeout: DEADLINE_MS,
    maxBuffer: 2 ** 26,
    env: { ...process.env, ...QUICK_GO, PATH: `${PROGRAMS}:${process.env['PATH']}` },
  })
  return stdout.trim()
}

/** What each program prints that has done all it says. */
export const STORY = 'sent message thing event'
