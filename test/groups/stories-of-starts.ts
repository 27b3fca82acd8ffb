import { runGroup } from '#test/support/run-group'

await runGroup('stories-of-starts')
