// Goal: a Node that is too old is named, and a way out.

import test from 'ava'

import { nodeRefusal } from '#src/cli/process-context'

test('a Node before 22 is refused with the way to a newer one', (t) => {
  for (const version of ['18.20.4', '20.20.2', '21.7.3']) {
    t.regex(nodeRefusal(version) ?? '', new RegExp(`needs Node 22.*${version}.*npx heliograph`))
  }
  for (const version of ['22.0.0', '22.23.3', '100.1.0']) t.is(nodeRefusal(version), undefined)
})
