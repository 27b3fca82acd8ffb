// What a submission may call and allocate on its way: a little more than it does. Whoever shortens
// the way lowers the bounds; whoever lengthens it raises them, and says in the commit what for.

/** The bounds of one submission. */
export interface Budget {
  /** Functions of the product that each such submission calls, in all threads. */
  readonly functions: number
  /** Files that these functions stand in. */
  readonly files: number
  /** Bytes that each of these threads allocates in its heap for such a submission. */
  readonly bytes: Readonly<Record<string, number>>
}

export const JOURNEYS = ['update', 'turn', 'message', 'publication', 'mqtt', 'push'] as const
export type JourneyName = (typeof JOURNEYS)[number]

/** A turn has costs of its own: the bytes of `turn` are those of an update among many. */
export const BUDGETS: Readonly<Record<JourneyName, Budget>> = {
  update: { functions: 543, files: 115, bytes: { main: 30_500, engine: 131_000, log: 27_000 } },
  turn: { functions: 318, files: 83, bytes: { main: 22_900, engine: 30_700, log: 3_600 } },
  message: { functions: 505, files: 111, bytes: { main: 27_000, engine: 112_000, log: 27_000 } },
  publication: {
    functions: 542,
    files: 117,
    bytes: { main: 68_000, engine: 112_000, log: 27_000 },
  },
  mqtt: { functions: 585, files: 122, bytes: { main: 44_300, engine: 131_000, log: 27_000 } },
  push: {
    functions: 713,
    files: 134,
    bytes: { main: 24_100, engine: 345_000, log: 27_000, dispatch: 63_100 },
  },
}

/** A bound that is so much higher than what is used is no bound any more. */
const SPARE_RATIO = 1.3

/** What a budget and what was used of it differ in too much, as sentences; none: it fits. */
export function misfits(used: Budget, budget: Budget): readonly string[] {
  const rows: readonly (readonly [what: string, used: number, bound: number])[] = [
    ['functions', used.functions, budget.functions],
    ['files', used.files, budget.files],
    ...Object.entries(budget.bytes).map(
      ([thread, bound]) => [`bytes of ${thread}`, used.bytes[thread] ?? Infinity, bound] as const,
    ),
  ]
  return rows.flatMap(([what, amount, bound]) => {
    if (amount > bound) return [`${amount} ${what}: more than ${bound}`]
    if (bound > amount * SPARE_RATIO) return [`${amount} ${what}: lower the bound of ${bound}`]
    return []
  })
}
