// The Thing of a row that the store has given.

import type { Thing } from '#domain/entity'
import { STORE_DEFECT } from '#domain/store-ports'
import { entityIn } from './document.ts'
import type { StoredThing } from './document.ts'

/** Throws a defect of the store when the document is damaged. */
export function thingIn(stored: StoredThing): Thing {
  const thing = entityIn(stored)
  if (thing === undefined) throw damaged()
  return thing
}

export const damaged = (): Error =>
  Object.assign(new Error('a stored thing is damaged'), { name: STORE_DEFECT })
