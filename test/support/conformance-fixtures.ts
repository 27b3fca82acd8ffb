// The tools, resources and prompts that the conformance scenarios ask a server for. Only their
// content is made for the test: they stand behind the surface of the gateway as its own do.

import { McpServer, ResourceTemplate, fromJsonSchema } from '@modelcontextprotocol/server'
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server'

const IMAGE = {
  type: 'image',
  mimeType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
} as const
const AUDIO = { type: 'audio', mimeType: 'audio/wav', data: 'UklGRiQAAABXQVZFZm10IA==' } as const

const resource = (uri: string, mimeType: string, text: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, mimeType, text },
})

const CONTENTS: Readonly<Record<string, readonly ContentBlock[]>> = {
  test_simple_text: [{ type: 'text', text: 'This is a simple text response for testing.' }],
  test_image_content: [IMAGE],
  test_audio_content: [AUDIO],
  test_embedded_resource: [
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ],
  test_multiple_content_types: [
    { type: 'text', text: 'Multiple content types test:' },
    IMAGE,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
}

const JSON_SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
} as const

/** A server with everything that the scenarios ask for and that one request can answer. */
export function conformanceServer(): McpServer {
  const server = new McpServer(
    { name: 'fixtures', version: '1.0.0' },
    { capabilities: { logging: {}, resources: { subscribe: true } } },
  )
  addTools(server)
  addResources(server)
  addPrompts(server)
  return server
}

function addTools(server: McpServer): void {
  for (const [name, content] of Object.entries(CONTENTS)) {
    server.registerTool(name, { description: name }, () => ({ content: [...content] }))
  }
  server.registerTool('test_error_handling', { description: 'fails' }, (): CallToolResult => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  server.registerTool('test_tool_with_logging', { description: 'logs' }, async ({ mcpReq }) => {
    for (const news of ['started', 'processing data', 'completed']) {
      const params = { level: 'info', data: `Tool execution ${news}` } as const
      await mcpReq.notify({ method: 'notifications/message', params })
    }
    return { content: [{ type: 'text', text: 'done' }] }
  })
  server.registerTool('test_tool_with_progress', { description: 'goes on' }, async ({ mcpReq }) => {
    const { ['_meta']: meta } = mcpReq
    const token = meta?.progressToken
    for (const progress of token === undefined ? [] : [0, 50, 100]) {
      const params = { progressToken: token ?? '', progress, total: 100 }
      await mcpReq.notify({ method: 'notifications/progress', params })
    }
    return { content: [{ type: 'text', text: 'done' }] }
  })
  server.registerTool(
    'json_schema_2020_12_tool',
    {
      description: 'Tool with JSON Schema 2020-12 features',
      inputSchema: fromJsonSchema(JSON_SCHEMA_2020_12),
    },
    () => ({ content: [] }),
  )
}

function addResources(server: McpServer): void {
  const add = (name: string, mimeType: string, content: { text: string } | { blob: string }) => {
    const uri = `test://${name}`
    server.registerResource(name, uri, { title: name, mimeType, description: name }, () => ({
      contents: [{ uri, mimeType, ...content }],
    }))
  }
  add('static-text', 'text/plain', { text: 'This is the content of the static text resource.' })
  add('static-binary', 'image/png', { blob: IMAGE.data })
  add('watched-resource', 'text/plain', { text: 'watched' })
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { title: 'template', mimeType: 'application/json' },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  )
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
}

const texts = (...names: readonly string[]) =>
  fromJsonSchema<Readonly<Record<string, string>>>({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: [...names],
  })

function addPrompts(server: McpServer): void {
  const say = (...contents: readonly ContentBlock[]) => ({
    messages: contents.map((content) => ({ role: 'user' as const, content })),
  })
  server.registerPrompt('test_simple_prompt', { description: 'simple' }, () =>
    say({ type: 'text', text: 'This is a simple prompt for testing.' }),
  )
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'with arguments', argsSchema: texts('arg1', 'arg2') },
    ({ arg1, arg2 }) =>
      say({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'with a resource', argsSchema: texts('resourceUri') },
    ({ resourceUri = '' }) =>
      say(resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'), {
        type: 'text',
        text: 'Please process the embedded resource above.',
      }),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'with an image' }, () =>
    say(IMAGE, { type: 'text', text: 'Please analyze the image above.' }),
  )
  server.server.registerCapabilities({ completions: {} })
  server.server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park'], total: 2, hasMore: false },
  }))
}
