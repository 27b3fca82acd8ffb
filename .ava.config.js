import manifest from './package.json' with { type: 'json' }
import { filesOfRun, longestFirst } from './test/support/test-groups.ts'

// The run of `npm test`: as package.json says, with files that share a process, and with compiled
// code that processes leave for those that start after them.
export default {
  ...manifest.ava,
  files: filesOfRun(),
  sortTestFiles: longestFirst,
  environmentVariables: {
    NODE_COMPILE_CACHE: new URL('node_modules/.cache/heliograph/compiled', import.meta.url)
      .pathname,
  },
}
