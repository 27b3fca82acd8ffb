// Compares an answer of a gateway with its OpenAPI document.

import { Ajv2020 } from 'ajv/dist/2020.js'

import { isRecord } from '#domain/record'
import type { RawAnswer, RawRequest } from '#test/support/raw-request'
import type { Rig } from '#test/support/start-ingress'

const at = (node: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>((found, name) => (isRecord(found) ? found[name] : undefined), node)

/** The difference of the answer from the document; undefined when it is documented, with its schema. */
export async function undocumented(
  rig: Rig,
  { line }: RawRequest,
  { status, headers, text, json }: RawAnswer,
): Promise<string | undefined> {
  const [method = '', target = ''] = line.split(' ')
  const document = (await rig.get('/openapi.json?styles=1')).json
  const template = templateOf(Object.keys(at(document, 'paths') ?? {}), target)
  const named = at(document, 'paths', template, method.toLowerCase(), 'responses', `${status}`)
  const response = at(document, ...referred(named)) ?? named
  if (response === undefined) return `${method} ${template} has no ${status}`
  const sent = headers.find((header) => header.startsWith('content-type:')) ?? ''
  const mediaType = sent.slice('content-type:'.length).split(';', 1)[0]?.trim() ?? ''
  const schema = at(response, 'content', mediaType, 'schema')
  if (!isRecord(schema)) return `${method} ${template} has no ${mediaType} for ${status}`
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const { components } = document
  const isValid = ajv.validate({ ...schema, components }, text.startsWith('{') ? json : text)
  return isValid ? undefined : `${method} ${template} ${status}: ${ajv.errorsText()}`
}

/** The names that lead to what a reference is to. */
const referred = (node: unknown): readonly string[] => {
  const reference = at(node, '$ref')
  return typeof reference === 'string' ? reference.slice(2).split('/') : ['none']
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
