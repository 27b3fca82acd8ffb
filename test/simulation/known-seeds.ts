// Seeds that failed once, each with the defect that they found. They run with every test.

export interface KnownSeed {
  readonly seed: number
  readonly isCluster: boolean
  readonly was: string
}

export const KNOWN_SEEDS: readonly KnownSeed[] = [
  {
    seed: 54,
    isCluster: true,
    was: 'a node did not know a node that was cut off, and found no operation',
  },
  { seed: 1010, isCluster: true, was: 'the same, shortly after a start' },
  {
    seed: 12,
    isCluster: true,
    was: 'the only other node was not connected, and a node found no operation',
  },
  {
    seed: 257,
    isCluster: true,
    was: 'a session that took a part of a page went on with single updates, and lacked earlier ones',
  },
  {
    seed: 16640,
    isCluster: false,
    was: 'after a power cut a publish of MQTT that was repeated got another operation',
  },
  {
    seed: 12907,
    isCluster: true,
    was: 'the judge did not count what the newest turn decided beside what was remembered',
  },
]
