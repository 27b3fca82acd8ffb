// Reads a query of Things: what its members say together is compiled by src/queries.

import { readQuery } from '#src/queries/query'
import { STATE } from '#src/schemas/reading-routes'
import { request } from '#src/schemas/shape'

/** POST /thing/query */
export const readThingQuery = request(STATE.query.request, { query: readQuery })
