/** Deletes what was put first beyond so many items. */
export function keepNewest<Key>(
  items: { readonly size: number } & Pick<Set<Key>, 'keys' | 'delete'>,
  max: number,
): void {
  for (const oldest of items.keys()) {
    if (items.size <= max) return
    items.delete(oldest)
  }
}
