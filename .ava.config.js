import manifest from './package.json' with { type: 'json' }
import { filesOfRun } from './test/support/test-groups.ts'

// The run of `npm test`: as package.json says, with files that share a process.
export default { ...manifest.ava, files: filesOfRun() }
