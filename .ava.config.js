import manifest from './package.json' with { type: 'json' }
import { memoryFolder } from './test/support/memory-folder.ts'
import { filesOfRun, longestFirst } from './test/support/test-groups.ts'

// The run of `npm test`: as package.json says, with files that share a process, with compiled code
// that processes leave for those that start after them, and with temporary files in memory.
const memory = memoryFolder()

export default {
  ...manifest.ava,
  files: filesOfRun(),
  sortTestFiles: longestFirst,
  environmentVariables: {
    NODE_COMPILE_CACHE: new URL('node_modules/.cache/heliograph/compiled', import.meta.url)
      .pathname,
    ...(memory !== undefined && { TMPDIR: memory }),
  },
}
