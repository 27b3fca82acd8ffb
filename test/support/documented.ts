// Compares an answer of a gateway with its OpenAPI document.

import { Ajv2020 } from 'ajv/dist/2020.js'

import { isRecord } from '#domain/record'
import type { RawAnswer, RawRequest } from '#test/support/raw-request'
import type { Rig } from '#test/support/start-ingress'

const at = (node: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>((found, name) => (isRecord(found) ? found[name] : undefined), node)

/** A document, and what checks answers by its schemas: each is compiled once for all tests. */
interface Documented {
  readonly paths: readonly string[]
  readonly document: unknown
  readonly ajv: Ajv2020
}

const NAME = 'openapi'
const documents = new Map<string, Documented>()

/** The document of a gateway; gateways with the same one share it. */
async function documentOf(rig: Rig): Promise<Documented> {
  const { text, json } = await rig.get('/openapi.json?styles=1')
  const known = documents.get(text)
  if (known !== undefined) return known
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(json, NAME)
  const made = { paths: Object.keys(at(json, 'paths') ?? {}), document: json, ajv }
  documents.set(text, made)
  return made
}

/** The difference of the answer from the document; undefined when it is documented, with its schema. */
export async function undocumented(
  rig: Rig,
  { line }: RawRequest,
  { status, headers, text, json }: RawAnswer,
): Promise<string | undefined> {
  const [method = '', target = ''] = line.split(' ')
  const { document, paths, ajv } = await documentOf(rig)
  const template = templateOf(paths, target)
  const named = ['paths', template, method.toLowerCase(), 'responses', `${status}`]
  const names = referred(at(document, ...named)) ?? named
  if (at(document, ...names) === undefined) return `${method} ${template} has no ${status}`
  const sent = headers.find((header) => header.startsWith('content-type:')) ?? ''
  const mediaType = sent.slice('content-type:'.length).split(';', 1)[0]?.trim() ?? ''
  const schema = [...names, 'content', mediaType, 'schema']
  if (!isRecord(at(document, ...schema))) {
    return `${method} ${template} has no ${mediaType} for ${status}`
  }
  const isValid = ajv.getSchema(`${NAME}#/${schema.map(inPointer).join('/')}`)
  if (isValid?.(text.startsWith('{') ? json : text) === true) return undefined
  return `${method} ${template} ${status}: ${ajv.errorsText(isValid?.errors)}`
}

/** A name as a part of a JSON pointer in a URI. */
const inPointer = (name: string): string =>
  encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))

/** The names that lead to what a reference is to. */
const referred = (node: unknown): readonly string[] | undefined => {
  const reference = at(node, '$ref')
  return typeof reference === 'string' ? reference.slice(2).split('/') : undefined
}

/** The template with the fewest places that fits; a slash too many in a target counts for none. */
function templateOf(templates: readonly string[], target: string): string {
  const path =
    target
      .split('?', 1)[0]
      ?.replace(/\/{2,}/, '/')
      .replace(/(.)\/$/, '$1') ?? ''
  const places = (template: string): number => template.split('{').length
  const fitting = templates.filter((template) =>
    new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  )
  return fitting.sort((one, other) => places(one) - places(other))[0] ?? path
}
