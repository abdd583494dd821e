/** Scrapes as Prometheus does, every second, in its preferred format; on a bare socket, for it shares a core with the client. */
import net from 'node:net'

export interface Scraper {
  /** Pages read whole so far. */
  scrapes(): number
}

const EVERY_MS = 1_000
const ACCEPT = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5'

/** `url` empty: none. */
export function createScraper(url: string): Scraper {
  if (url === '') return { scrapes: () => 0 }
  const { port, pathname, host } = new URL(url)
  let scrapes = 0
  const timer = setInterval(() => {
    const socket = net.connect(Number(port), '127.0.0.1')
    socket.on('error', () => undefined)
    let last = ''
    socket.on('data', (bytes) => {
      last = bytes.subarray(-16).toString('latin1')
    })
    socket.on('end', () => {
      if (last.endsWith('# EOF\n')) scrapes += 1
      socket.destroy()
    })
    socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAccept: ${ACCEPT}\r\nConnection: close\r\n\r\n`)
  }, EVERY_MS)
  timer.unref()
  return { scrapes: () => scrapes }
}
