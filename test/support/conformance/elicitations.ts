/** The forms the conformance suite's 2025-11-25 tools ask their client to fill. */
import type { ElicitRequestFormParams } from '@modelcontextprotocol/sdk/types.js'

interface Elicitation {
  readonly message: string
  readonly requestedSchema: ElicitRequestFormParams['requestedSchema']
  says(action: string, content: string): string
}
const completed = (action: string, content: string): string => `Elicitation completed: action=${action}, content=${content}`
const three = ['option1', 'option2', 'option3']
const titled = (what: string) => [1, 2, 3].map((n) => ({ const: `value${n}`, title: `${['First', 'Second', 'Third'][n - 1]} ${what}` }))

export const ELICITATIONS: Readonly<Record<string, Elicitation>> = {
  test_elicitation: {
    message: 'Who are you?',
    requestedSchema: {
      type: 'object',
      properties: {
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      },
      required: ['username', 'email'],
    },
    says: (action, content) => `User response: action: ${action}, content: ${content}`,
  },
  test_elicitation_sep1034_defaults: {
    message: 'Please review and update the form fields with defaults',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      },
      required: [],
    },
    says: completed,
  },
  test_elicitation_sep1330_enums: {
    message: 'Please select options from the enum fields',
    requestedSchema: {
      type: 'object',
      properties: {
        untitledSingle: { type: 'string', enum: three },
        titledSingle: { type: 'string', oneOf: titled('Option') },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
        untitledMulti: { type: 'array', items: { type: 'string', enum: three } },
        titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
      },
      required: [],
    },
    says: completed,
  },
}
