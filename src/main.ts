// Process edge: the gateway as one process.

import { readEnv } from './config.ts'
import { serve } from './serve.ts'

process.exitCode = await serve(readEnv())
