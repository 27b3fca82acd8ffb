import { filesOfRun } from './test/support/test-groups.ts'

export default {
  extensions: ['ts'],
  files: filesOfRun(),
  nodeArguments: ['--conditions=heliograph-source'],
  timeout: '3m',
  concurrency: 4,
  workerThreads: false,
}
