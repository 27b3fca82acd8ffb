// Reads lists that come in pages, from the oldest entry on. A page ends where its cursor ends: one
// that is filtered comes back short, or empty, with more behind it.

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next_cursor?: string | undefined
}

export interface Read<Item> {
  readonly items: readonly Item[]
  /** False where a bound has ended the read: then the newest are missing. */
  readonly isWhole: boolean
}

/** Reads pages until there is no cursor, or so many. */
export async function readPages<Item>(
  page: (cursor: string | undefined) => Promise<Page<Item>>,
  pagesMax: number,
): Promise<Read<Item>> {
  const items: Item[] = []
  let cursor: string | undefined
  for (let read = 0; read < pagesMax; read += 1) {
    const answer = await page(cursor)
    items.push(...answer.items)
    cursor = answer.next_cursor
    if (cursor === undefined) return { items, isWhole: true }
  }
  return { items, isWhole: false }
}

/** The parts of a span that are read one after the other, until one of them has enough. */
const PARTS = [4_096, 256, 16, 1]

/**
 * Reads the newest items of a span that ends now: the shortest part of it comes first, so a busy
 * channel loses the beginning of the span, never its end.
 */
export async function readNewest<Item>(
  read: (sinceMs: number) => Promise<Read<Item>>,
  { spanMs, presentMs, wanted }: { spanMs: number; presentMs: number; wanted: number },
): Promise<Read<Item>> {
  let newest: readonly Item[] = []
  for (const part of PARTS) {
    const { items, isWhole } = await read(presentMs - spanMs / part)
    if (!isWhole) return { items: newest.length === 0 ? items : newest, isWhole: false }
    newest = items
    if (items.length >= wanted) return { items, isWhole: part === 1 }
  }
  return { items: newest, isWhole: true }
}
