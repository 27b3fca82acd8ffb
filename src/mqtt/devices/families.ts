// Every family of devices whose topics the gateway knows.

import type { Row } from './family.ts'

export const FAMILIES: readonly Row[] = []
