// node --import: lets the official conformance suite run on Node 20.
import { register } from 'node:module'

register('./hooks.mjs', import.meta.url)
