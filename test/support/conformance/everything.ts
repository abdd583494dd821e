/** What the conformance suite asks of any server, told once: small contents and texts shared by both SDKs' servers. */

export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
export const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

export const text = (of: string) => ({ content: [{ type: 'text' as const, text: of }] })
export const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
  completions: {},
}

/** Tools without arguments that answer at once. */
export const PLAIN_TOOLS = {
  test_simple_text: () => text('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [{ type: 'image' as const, data: PNG, mimeType: 'image/png' }] }),
  test_audio_content: () => ({ content: [{ type: 'audio' as const, data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [
      {
        type: 'resource' as const,
        resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' },
      },
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: 'text' as const, text: 'Multiple content types test:' },
      { type: 'image' as const, data: PNG, mimeType: 'image/png' },
      {
        type: 'resource' as const,
        resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' },
      },
    ],
  }),
  test_error_handling: () => {
    throw new Error('This tool intentionally returns an error for testing')
  },
  test_streaming_elicitation: () => text('ok'),
}

export interface EverythingResource {
  readonly name: string
  readonly uri: string
  readonly mimeType: string
  readonly content: { readonly text: string } | { readonly blob: string }
}
export const RESOURCES: readonly EverythingResource[] = [
  {
    name: 'static-text',
    uri: 'test://static-text',
    mimeType: 'text/plain',
    content: { text: 'This is the content of the static text resource.' },
  },
  { name: 'static-binary', uri: 'test://static-binary', mimeType: 'image/png', content: { blob: PNG } },
  { name: 'watched', uri: 'test://watched-resource', mimeType: 'text/plain', content: { text: 'Watch me.' } },
]
export const templateText = (id: unknown): string => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })

type Content =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType: string; text: string } }
const says = (content: Content) => ({ role: 'user' as const, content })
export const PROMPTS = {
  simple: () => ({ messages: [says({ type: 'text', text: 'This is a simple prompt for testing.' })] }),
  withArguments: (arg1: string, arg2: string) => ({
    messages: [says({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` })],
  }),
  withResource: (uri: string) => ({
    messages: [
      says({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } }),
      says({ type: 'text', text: 'Please process the embedded resource above.' }),
    ],
  }),
  withImage: () => ({
    messages: [says({ type: 'image', data: PNG, mimeType: 'image/png' }), says({ type: 'text', text: 'Please analyze the image above.' })],
  }),
}

/** The schema whose keywords must survive a listing. */
export const JSON_SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const

const LOCAL = ['localhost', '127.0.0.1', '[::1]']
/** As the suite wants of a server on loopback: any other Host or Origin is turned away. */
export function isLocal(host: string | undefined, origin: string | undefined): boolean {
  if (!LOCAL.includes((host ?? '').replace(/:\d+$/, ''))) return false
  return origin === undefined || LOCAL.includes(URL.canParse(origin) ? new URL(origin).hostname : '')
}
