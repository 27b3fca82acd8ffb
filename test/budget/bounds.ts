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
  update: { functions: 515, files: 112, bytes: { main: 29_000, engine: 103_000, log: 26_500 } },
  turn: { functions: 308, files: 82, bytes: { main: 21_000, engine: 24_000, log: 3_600 } },
  message: { functions: 476, files: 107, bytes: { main: 27_000, engine: 86_000, log: 26_500 } },
  publication: { functions: 513, files: 113, bytes: { main: 66_000, engine: 86_000, log: 26_500 } },
  mqtt: { functions: 559, files: 120, bytes: { main: 43_500, engine: 104_000, log: 26_500 } },
  push: {
    functions: 700,
    files: 131,
    bytes: { main: 23_000, engine: 312_000, log: 26_500, dispatch: 61_000 },
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
