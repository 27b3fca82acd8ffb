// Builds src/console into dist/console, or into the folder that is named: script and style with a
// hash in their names, the page, the service worker, and each of them compressed. JavaScript that
// Node 20 runs, as it comes with the build of everything else.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SOURCE = join(ROOT, 'src/console')
const target = process.argv[2] ?? join(ROOT, 'dist/console')

/** The files of the console by name. */
const files = new Map()
const add = (name, content) => files.set(name, Buffer.from(content))

/** The style of every page of the gateway, which src/authorization has for its own. */
async function look() {
  const entry = join(ROOT, 'src/authorization/look.ts')
  const { outputFiles } = await build({ entryPoints: [entry], format: 'esm', write: false })
  const script = Buffer.from(outputFiles[0].contents).toString('base64')
  return (await import(`data:text/javascript;base64,${script}`)).LOOK
}

const lookPlugin = {
  name: 'look',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^look\.css$/ }, ({ path }) => ({ path, namespace: 'look' }))
    onLoad({ filter: /./, namespace: 'look' }, async () => ({
      contents: await look(),
      loader: 'css',
    }))
  },
}

const shared = {
  bundle: true,
  minify: true,
  format: 'esm',
  // The browsers of the last two years: what the SDK uses needs them.
  target: ['chrome123', 'firefox121', 'safari17.5'],
  conditions: ['heliograph-source'],
  tsconfig: join(SOURCE, 'tsconfig.json'),
  legalComments: 'none',
  charset: 'utf8',
  write: false,
  metafile: true,
  logLevel: 'warning',
}

// The page and the worker of its session share the SDK.
const page = await build({
  ...shared,
  entryPoints: { main: join(SOURCE, 'main.tsx'), session: join(SOURCE, 'session/worker.ts') },
  plugins: [lookPlugin],
  splitting: true,
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  outdir: target,
})
for (const { path, contents } of page.outputFiles) add(basename(path), contents)
const named = (pattern) => [...files.keys()].find((name) => pattern.test(name))
const script = named(/^main-.*\.js$/)
const session = named(/^session-.*\.js$/)
const style = named(/^main-.*\.css$/)

let html = readFileSync(join(SOURCE, 'index.html'), 'utf8')
for (const [source, built] of [
  ['main.tsx', script],
  ['main.css', style],
  ['session/worker.ts', session],
]) {
  html = html.replace(source, built)
}
add('index.html', html)
for (const name of ['icon.svg', 'icon-192.png', 'icon-512.png', 'console.webmanifest']) {
  add(name, readFileSync(join(SOURCE, name)))
}

// The worker keeps what this build consists of, and drops the files of another one.
const version = createHash('sha256')
for (const [name, bytes] of files) version.update(name).update(bytes)
const worker = await build({
  ...shared,
  entryPoints: [join(SOURCE, 'service-worker.ts')],
  outfile: join(target, 'service-worker.js'),
  define: {
    FILES: JSON.stringify(['./', ...[...files.keys()].filter((name) => name !== 'index.html')]),
    VERSION: JSON.stringify(version.digest('hex').slice(0, 16)),
  },
})
for (const { contents } of worker.outputFiles) add('service-worker.js', contents)

const COMPRESSED = /\.(js|css|html|svg|webmanifest)$/
for (const [name, bytes] of [...files].filter(([each]) => COMPRESSED.test(each))) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  add(`${name}.br`, brotliCompressSync(bytes, { params }))
  add(`${name}.gz`, gzipSync(bytes, { level: 9 }))
}

// One rename: a gateway that starts meanwhile sees the files of one build.
const next = `${target}.${process.pid}`
mkdirSync(next, { recursive: true })
for (const [name, bytes] of files) writeFileSync(join(next, name), bytes)
const before = `${next}.before`
try {
  renameSync(target, before)
} catch (error) {
  if (error.code !== 'ENOENT') throw error
}
try {
  renameSync(next, target)
} catch (error) {
  // Another build was as quick; its files are the same.
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
}
for (const left of [next, before]) rmSync(left, { recursive: true, force: true })
