import { Baseline1808000000000 } from './1-baseline.ts'

/**
 * Every step, in order. The first one makes the tables as they are declared now, so a later step
 * finds its change done where the database is new.
 */
export const MIGRATIONS = [Baseline1808000000000]
