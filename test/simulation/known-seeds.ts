// Seeds that failed once, each with the defect that they found. They run with every test.

export interface KnownSeed {
  readonly seed: number
  readonly isCluster: boolean
  readonly was: string
}

export const KNOWN_SEEDS: readonly KnownSeed[] = []
