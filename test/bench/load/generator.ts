// The generator's process: takes orders from the bench, so that its work is on no event loop but
// its own.

import { prepareHolders } from './holders.ts'
import type { HolderRecipe } from './holders.ts'
import { Load } from './load.ts'
import type { GeneratorOrder } from './messages.ts'
import { prepareRequests } from './payload.ts'
import type { Prepared, Recipe } from './payload.ts'
import { prepareStrangers } from './strangers.ts'
import type { StrangerRecipe } from './strangers.ts'

let load: Load | undefined

function requestsOf(recipe: Recipe | StrangerRecipe | HolderRecipe): readonly Prepared[] {
  if ('stranger' in recipe) return prepareStrangers(recipe)
  return 'holder' in recipe ? prepareHolders(recipe) : prepareRequests(recipe)
}

async function obey(order: GeneratorOrder): Promise<unknown> {
  switch (order.kind) {
    case 'connect':
      load = new Load({ ...order, requests: requestsOf(order.recipe) })
      await load.connect()
      return {}
    case 'load':
      if (load === undefined) throw new Error('not connected')
      return load.run(order.request)
    case 'disconnect':
      load?.close()
      load = undefined
      return {}
  }
}

process.on('message', (order: GeneratorOrder) => {
  void obey(order).then((answer) => process.send?.(answer))
})
// The bench is gone.
process.on('disconnect', () => process.exit())
