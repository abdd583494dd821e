/** The real process as the commands' world. What only one command needs is loaded when it runs. */
import { readFileSync } from 'node:fs'
import { realClock } from '../wire/real-clock.ts'
import { collectStart } from './heap.ts'
import { createPaint, isColoured } from './paint.ts'
import type { Printer, StopSignal, World } from './world.ts'

const ANSWER_WAIT_MS = 10_000

export function processWorld(): World {
  return {
    env: process.env,
    out: printerOf(process.stdout),
    err: printerOf(process.stderr),
    readFile: (path) => readFileSync(path, 'utf8'),
    onSignal(run) {
      const signals: readonly StopSignal[] = ['SIGINT', 'SIGTERM']
      for (const signal of signals) process.on(signal, run)
      return () => {
        for (const signal of signals) process.off(signal, run)
      }
    },
    onHangup(run) {
      process.on('SIGHUP', run)
      return () => process.off('SIGHUP', run)
    },
    dieOf: (signal) => process.kill(process.pid, signal),
    async startApp(settings, ports) {
      const { startApp } = await import('../app.ts')
      collectStart()
      return startApp(settings, ports)
    },
    runDemo: async (options, ports) => (await import('../demo/demo.ts')).runDemo(options, ports),
    async get(url, headers) {
      const answer = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_WAIT_MS) })
      return { status: answer.status, text: await answer.text() }
    },
    async send({ method, url, headers, body }) {
      const signal = AbortSignal.timeout(ANSWER_WAIT_MS)
      const answer = await fetch(url, { method, headers, redirect: 'manual', signal, ...(body === null ? {} : { body }) })
      return { status: answer.status, text: await answer.text() }
    },
    wallMs: realClock.wallMs,
    readInput: () => readFileSync(0, 'utf8'),
  }
}

/** A reader that leaves (`… | head`) is no error of ours. */
function printerOf(stream: NodeJS.WriteStream): Printer {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  return {
    print: (text) => stream.write(`${text}\n`),
    write: (text) => stream.write(text),
    paint: createPaint(isColoured(stream, process.env)),
    isTerminal: stream.isTTY === true,
  }
}
