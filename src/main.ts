// Process edge: the gateway as one process.

import { readEnv } from './config/config.ts'
import { serve } from './process/lifecycle.ts'

process.exitCode = await serve(readEnv())
