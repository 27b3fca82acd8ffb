import test from 'ava'

import type { Thing } from '#domain/entity'
import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { NO_FIELDS } from '#domain/patch'
import type { EntityQuery, Page } from '#domain/store-ports'
import { CHANNEL, NOW_MS, PASSWORD } from '#test/support/making'
import { startMcp } from '#test/support/mcp-rig'
import type { McpRig } from '#test/support/mcp-rig'
import { addChannel } from '#test/support/start-ingress'
import { timedOf } from '#test/support/submissions'
import { rounds } from '#test/support/until'

const ROOT = 'heliograph://channel/'

const thing = (id: string): Thing => ({
  id,
  state: 'active',
  stateAt: NOW_MS,
  rev: 1,
  seq: 1,
  at: NOW_MS,
  changedAt: NOW_MS,
  fields: timedOf({ title: [`Thing ${id}`, NOW_MS] }, NOW_MS),
  attrs: NO_FIELDS,
  externalIds: NO_FIELDS,
})

/** Ids that sort as their numbers do. */
const channelId = (number: number): string =>
  `${String(number).padStart(2, '0')}${CHANNEL.slice(2)}`

/** Binds `count` channels, newest id first; gives them in the order of their ids. */
async function bindMore(rig: McpRig, count: number): Promise<readonly ChannelId[]> {
  rig.bindings.bound.clear()
  const ids = Array.from({ length: count }, (_, at) => channelId(at))
  for (const id of ids.toReversed()) {
    await addChannel(rig.channels, id, PASSWORD)
    rig.bindings.bind(rig.grant.grantId, parseChannelId(id) ?? rig.channelId)
  }
  return ids.map((id) => parseChannelId(id) ?? rig.channelId)
}

/** Serves the Things of each channel, two a page. */
function serve(rig: McpRig, things: ReadonlyMap<string, readonly string[]>): void {
  rig.reads.things = async (query: EntityQuery): Promise<Page<Thing>> => {
    rig.reads.queries.push(query)
    const from = query.before ?? 0
    const ids = things.get(query.channelId) ?? []
    const items = ids.slice(from, from + 2).map(thing)
    return from + 2 < ids.length ? { items, next: from + 2 } : { items }
  }
}

test('resources/1: pages hold the channels and then their active Things, each once', async (t) => {
  const rig = await startMcp(t)
  const [first = rig.channelId, second = rig.channelId, third = rig.channelId] = await bindMore(
    rig,
    3,
  )
  const kept = new Map([
    [first, ['a', 'b', 'c']],
    [third, ['d']],
  ])
  serve(rig, kept)
  const client = await rig.client()
  const pages: (readonly string[])[] = []
  const goOn = rounds(20)
  let cursor: string | undefined
  do {
    const page = await client.listResources(cursor === undefined ? { cursor: '' } : { cursor })
    pages.push(page.resources.map(({ uri }) => uri.slice(ROOT.length)))
    cursor = page.nextCursor
  } while (cursor !== undefined && goOn())
  t.deepEqual(pages, [
    [first, second, third, `${first}/thing/a`, `${first}/thing/b`],
    [`${first}/thing/c`],
    [`${third}/thing/d`],
  ])
  t.true(rig.reads.queries.every((query) => 'state' in query && query.state === 'active'))
})

test('resources/1: a channel that was unbound between two pages is passed over', async (t) => {
  const rig = await startMcp(t)
  const [first = rig.channelId, second = rig.channelId] = await bindMore(rig, 2)
  serve(
    rig,
    new Map([
      [first, ['a', 'b', 'c']],
      [second, ['d']],
    ]),
  )
  const client = await rig.client()
  const { nextCursor = '' } = await client.listResources({ cursor: '' })
  await rig.bindings.unbind(rig.grant.grantId, first)
  const page = await client.listResources({ cursor: nextCursor })
  t.deepEqual(
    page.resources.map(({ uri }) => uri),
    [`${ROOT}${second}/thing/d`],
  )
})

test('resources/2: one page reads the Things of five channels at most', async (t) => {
  const rig = await startMcp(t)
  const ids = await bindMore(rig, 12)
  serve(rig, new Map([[ids[11] ?? rig.channelId, ['last']]]))
  const client = await rig.client()
  const reads: number[] = []
  let cursor: string | undefined = ''
  let found = 0
  for (const goOn = rounds(20); cursor !== undefined && goOn();) {
    const before = rig.reads.queries.length
    const page: { resources: readonly unknown[]; nextCursor?: string | undefined } =
      await client.listResources({ cursor })
    reads.push(rig.reads.queries.length - before)
    found += page.resources.length
    cursor = page.nextCursor
  }
  t.deepEqual(reads, [5, 5, 2])
  t.is(found, 13)
})

test('a cursor that the gateway did not make is refused', async (t) => {
  const rig = await startMcp(t)
  const client = await rig.client()
  for (const cursor of ['mine', `${CHANNEL}.mine`, `${CHANNEL}.c1.c1`, CHANNEL.toLowerCase()]) {
    const error = await t.throwsAsync(client.listResources({ cursor }))
    t.regex(error?.message ?? '', /invalid_cursor/)
  }
})

test('a resource is a channel of the grant or one of its Things, as the routes give them', async (t) => {
  const rig = await startMcp(t)
  rig.reads.keptThings = [thing('pump')]
  const client = await rig.client()
  const read = async (uri: string): Promise<unknown> => {
    const [content] = (await client.readResource({ uri })).contents
    t.is(content?.mimeType, 'application/json')
    return content !== undefined && 'text' in content ? JSON.parse(content.text) : undefined
  }
  const info = await rig.post('/channel/info', { channel_id: CHANNEL, password: PASSWORD })
  t.deepEqual(await read(ROOT + CHANNEL), info.json['data'])
  const fields = { channel_id: CHANNEL, password: PASSWORD, thing_id: 'pump' }
  const got = await rig.post('/thing/get', fields)
  t.deepEqual(await read(`${ROOT}${CHANNEL}/thing/pump`), got.json['data'])
})

const OTHER = 'P7K2M9QW4RD8ZT3VN6HB5YPC1G'

test('an unbound and a missing channel are refused alike', async (t) => {
  const rig = await startMcp(t)
  await addChannel(rig.channels, OTHER, PASSWORD)
  const client = await rig.client()
  const uris = [
    ROOT + OTHER,
    ROOT + channelId(7),
    `${ROOT}${OTHER}/thing/pump`,
    `${ROOT}${CHANNEL}/thing/unknown`,
    `${ROOT}${CHANNEL}/event/e`,
    `${ROOT}${CHANNEL}/thing/pump/more`,
    'file:///etc/passwd',
  ]
  for (const uri of uris) {
    const error = await t.throwsAsync(client.readResource({ uri }))
    t.is(error?.message, `Resource not found: ${uri}`)
  }
})

test('the templates give the form of the URIs', async (t) => {
  const rig = await startMcp(t)
  const { resourceTemplates } = await (await rig.client()).listResourceTemplates()
  t.deepEqual(
    resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    [`${ROOT}{channel_id}`, `${ROOT}{channel_id}/thing/{thing_id}`],
  )
})
