// The machine's own time and chance, for tests against real servers and databases.

import { systemRuntime } from '#src/process/system-runtime'

export const realRuntime = systemRuntime()
