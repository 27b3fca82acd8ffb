// Builds `dist` where the compiler is installed. `npm ci --omit=dev` installs none: then `npm start`
// runs what was built before. JavaScript that Node 20 runs, because it comes before the build.

import { execSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const root = new URL('..', import.meta.url)
const has = (path) => existsSync(new URL(path, root))

if (has('node_modules/typescript/package.json')) {
  try {
    execSync('npm run --silent build', { cwd: root, stdio: 'inherit' })
  } catch {
    process.exitCode = 1 // The compiler has said why.
  }
} else if (!has('dist/src/main.js')) {
  console.error(
    'Nothing is built: the compiler is a development dependency, and they are not installed. ' +
      '`npm start` needs `dist`: run `npm ci --include=dev`, or copy `dist` from where it was built.',
  )
  // An installation without the compiler is whole; a start without anything to run is not.
  if (process.env.npm_lifecycle_event === 'prestart') process.exitCode = 1
}
