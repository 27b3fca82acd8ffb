import { runGroup } from '#test/support/run-group'

await runGroup('documents')
