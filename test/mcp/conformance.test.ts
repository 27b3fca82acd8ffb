// Goal: the surface keeps the protocol as its makers test it.
// Method: the scenarios that any server can answer run against the surface of a gateway; those that
// ask for tools and resources of their own run against the same surface with these.
//
// Those of a server that asks its client something while it answers (sampling, elicitation) or that
// keeps a stream to come back to (polling) do not apply, and are named in conformance-baseline.yml:
// each request stands alone. (mcp/2)

import test from 'ava'

import { surfaceRows, surfaceParts } from '#src/mcp/rows'
import { conformanceServer } from '#test/support/conformance-fixtures'
import { failureOf, withToken } from '#test/support/conformance'
import { TOKEN, startMcp } from '#test/support/mcp-rig'

const OF_ANY_SERVER = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'dns-rebinding-protection',
]

test('the surface of a gateway passes the scenarios of any server', async (t) => {
  const rig = await startMcp(t)
  const url = await withToken(t, rig.port, TOKEN)
  for (const scenario of OF_ANY_SERVER) t.is(await failureOf(url, scenario), undefined, scenario)
})

test('the same surface with the tools of the suite passes where one request can answer', async (t) => {
  const rig = await startMcp(
    t,
    {},
    {
      rows: (acceptance, ports, options) =>
        surfaceRows({ ...surfaceParts(acceptance, ports, options), serverOf: conformanceServer }),
    },
  )
  const url = await withToken(t, rig.port, TOKEN)
  t.is(await failureOf(url), undefined)
})
