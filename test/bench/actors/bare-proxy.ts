/** The yardstick: http-proxy with nothing around it but the mend of its abort defect. Usage: `--port N --upstream PORT`. */
import http from 'node:http'
import httpProxy from 'http-proxy'
import { argOf } from './wire-words.ts'

const agent = new http.Agent({ keepAlive: true, maxFreeSockets: 512 })
const proxy = httpProxy.createProxyServer({ target: `http://127.0.0.1:${argOf('upstream', '0')}`, agent })

// It watches the request's `aborted`, which no longer comes once the request was read: the server is never told.
proxy.on('proxyReq', (outgoing, _req, res) => {
  res.on('close', () => {
    if (!res.writableFinished) outgoing.destroy()
  })
})
proxy.on('error', (_error, _req, res) => {
  if ('headersSent' in res && !res.headersSent) res.writeHead(502).end()
  else res.destroy()
})
const server = http.createServer((req, res) => proxy.web(req, res))
server.requestTimeout = 0
server.listen({ port: Number(argOf('port', '0')), host: '127.0.0.1', backlog: 4_096 }, () => console.log('ready'))
process.on('SIGTERM', () => process.exit(0)) // so that a profile is written
process.on('uncaughtException', (error) => {
  if (!/ECONNRESET|EPIPE|aborted|hang up/.test(error.message)) throw error
})
