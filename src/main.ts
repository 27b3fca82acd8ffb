// Process edge: the gateway as one process.

import { gatewayEnvironment, nodeRefusal, processEnvironment } from './config/environment.ts'
import { serve } from './process/serve.ts'

const refusal = nodeRefusal(process.versions.node)
if (refusal === undefined) {
  process.exitCode = await serve(gatewayEnvironment(processEnvironment()))
} else {
  process.stderr.write(`${refusal}\n`)
  process.exitCode = 1
}
