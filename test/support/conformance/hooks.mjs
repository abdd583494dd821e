// `fs.globSync` came with Node 22; the conformance suite imports it by name and, in what is run here, never calls it.
const shim = `import fs from 'node:fs'
export * from 'node:fs'
export default fs
export const globSync = fs.globSync ?? (() => { throw new Error('globSync: not on this Node') })`

export async function resolve(specifier, context, next) {
  if (specifier !== 'fs' || !context.parentURL?.includes('/@modelcontextprotocol/conformance/')) return next(specifier, context)
  return { url: `data:text/javascript,${encodeURIComponent(shim)}`, shortCircuit: true, format: 'module' }
}
