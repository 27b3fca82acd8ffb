// The generator's process: takes orders from the bench, so that its work is on no event loop but
// its own.

import { Load } from './load.ts'
import type { GeneratorOrder } from './messages.ts'
import { prepareRequests } from './payload.ts'

let load: Load | undefined

async function obey(order: GeneratorOrder): Promise<unknown> {
  switch (order.kind) {
    case 'connect':
      load = new Load({ ...order, requests: prepareRequests(order.recipe) })
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
// Whoever gave the orders is gone.
process.on('disconnect', () => process.exit())
