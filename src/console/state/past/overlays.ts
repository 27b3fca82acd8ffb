// Which lines are laid over those of a chart: the address of the page has them.

import { jsonOf } from '#domain/record'

/** The value of a Thing that the chart of `attr` shows besides its own. */
export interface Overlay {
  readonly attr: string
  readonly thingId: string
  readonly other: string
}

const OVERLAYS_MAX = 20

/** Reads the overlays of an address; what is none is left out. */
export function overlaysIn({
  with: text = '[]',
}: Readonly<Record<string, string>>): readonly Overlay[] {
  const listed = jsonOf(text)
  if (!Array.isArray(listed)) return []
  return listed.slice(0, OVERLAYS_MAX).flatMap((item: unknown) => {
    if (!Array.isArray(item) || item.length !== 3) return []
    const [attr, thingId, other] = item as readonly unknown[]
    const isNamed = [attr, thingId, other].every((part) => typeof part === 'string')
    return isNamed ? [{ attr, thingId, other } as Overlay] : []
  })
}

/** The member of an address for overlays; '' for none. */
export const queryForOverlays = (overlays: readonly Overlay[]): string =>
  overlays.length === 0
    ? ''
    : JSON.stringify(overlays.map(({ attr, thingId, other }) => [attr, thingId, other]))
