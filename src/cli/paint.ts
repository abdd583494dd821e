/** Colour for terminals only: none where it is piped, and none where NO_COLOR asks for none. */
import { styleText } from 'node:util'

export type Colour = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan'
export type Paint = (colour: Colour, text: string) => string

export const plain: Paint = (_colour, text) => text

export const createPaint = (isColoured: boolean): Paint =>
  isColoured ? (colour, text) => styleText(colour, text, { validateStream: false }) : plain

/** As https://no-color.org says: any value but the empty one means no. */
export function isColoured(stream: { readonly isTTY?: boolean }, env: Readonly<Record<string, string | undefined>>): boolean {
  return stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
}
