/** Tools and a prompt of 2026-07-28 that ask the client before they answer, over as many rounds as they need. */
import type { McpServer, RequestStateCodec, ServerContext } from '@modelcontextprotocol/server'
import { acceptedContent, inputRequired } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { text } from './everything.ts'

const ask = (message: string, key: string, type: 'string' | 'boolean') =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [key]: type === 'string' ? { type } : { type } }, required: [key] },
  })
const sample = (question: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: question } }], maxTokens })
const answered = ({ mcpReq }: ServerContext, key: string): boolean => mcpReq.inputResponses?.[key] !== undefined

function clientCapabilities({ mcpReq }: ServerContext): { readonly sampling?: unknown; readonly elicitation?: unknown } {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  return envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {}
}

export function registerInputRequired(server: McpServer, states: RequestStateCodec<string>): void {
  const tool = (name: string, run: (context: ServerContext) => unknown): void => {
    server.registerTool(
      name,
      { description: name, inputSchema: z.object({}) },
      (async (_args: object, context: ServerContext) => await run(context)) as never,
    )
  }
  tool('test_input_required_result_elicitation', ({ mcpReq }) => {
    const name = acceptedContent(mcpReq.inputResponses, 'user_name')?.['name']
    if (typeof name === 'string') return text(`Hello, ${name}!`)
    return inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name', 'string') } })
  })
  tool('test_input_required_result_sampling', (context) =>
    answered(context, 'capital_question')
      ? text(JSON.stringify(context.mcpReq.inputResponses?.['capital_question']))
      : inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?', 100) } }),
  )
  tool('test_input_required_result_list_roots', (context) =>
    answered(context, 'client_roots')
      ? text(JSON.stringify(context.mcpReq.inputResponses?.['client_roots']))
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } }),
  )
  const stateful = async (context: ServerContext) =>
    answered(context, 'confirm') && context.mcpReq.requestState<string>() === 'confirming'
      ? text('state-ok')
      : inputRequired({ inputRequests: { confirm: ask('Please confirm', 'ok', 'boolean') }, requestState: await states.mint('confirming') })
  tool('test_input_required_result_request_state', stateful)
  tool('test_input_required_result_tampered_state', stateful)
  tool('test_input_required_result_multiple_inputs', async (context) => {
    if (['user_name', 'greeting', 'client_roots'].every((key) => answered(context, key))) return text('all answered')
    const inputRequests = {
      user_name: ask('What is your name?', 'name', 'string'),
      greeting: sample('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    }
    return inputRequired({ inputRequests, requestState: await states.mint('three') })
  })
  tool('test_input_required_result_multi_round', async (context) => {
    const state = context.mcpReq.requestState<string>()
    if (state === 'round-2' && answered(context, 'step2')) return text('all rounds done')
    if (state === 'round-1' && answered(context, 'step1')) {
      return inputRequired({
        inputRequests: { step2: ask('Step 2: What is your favorite color?', 'color', 'string') },
        requestState: await states.mint('round-2'),
      })
    }
    return inputRequired({
      inputRequests: { step1: ask('Step 1: What is your name?', 'name', 'string') },
      requestState: await states.mint('round-1'),
    })
  })
  tool('test_input_required_result_capabilities', (context) => {
    const can = clientCapabilities(context)
    return inputRequired({
      inputRequests: {
        ...(can?.sampling === undefined ? {} : { question: sample('ping', 16) }),
        ...(can?.elicitation === undefined ? {} : { name: ask('What is your name?', 'name', 'string') }),
      },
    })
  })
  tool('test_missing_capability', (context) =>
    answered(context, 'a') ? text('ok') : inputRequired({ inputRequests: { a: sample('ping', 16) } }),
  )
  server.registerPrompt('test_input_required_result_prompt', { description: 'asks first' }, ((context: ServerContext) =>
    answered(context, 'user_context')
      ? { messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(context.mcpReq.inputResponses?.['user_context']) } }] }
      : inputRequired({ inputRequests: { user_context: ask('What context should the prompt use?', 'context', 'string') } })) as never)
}
