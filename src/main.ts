// Process edge: the gateway as one process.

import { readEnv } from './config/environment.ts'
import { serve } from './process/serve.ts'

process.exitCode = await serve(readEnv())
