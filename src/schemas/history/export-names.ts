// What an export may have, for the command line, which loads no declarations of routes.

export const EXPORTED = ['things', 'events', 'messages', 'updates', 'series'] as const
export type Exported = (typeof EXPORTED)[number]

/** Where an export is among series: of this Thing it has told what is not before this time. */
export interface SeriesPlace {
  readonly thingId: string
  /** Unix milliseconds. */
  readonly before: number
}

export const seriesPlaceText = ({ thingId, before }: SeriesPlace): string => `${thingId} ${before}`
