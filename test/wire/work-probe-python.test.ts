/** The Python probe, run by python3 against the real receivers: context managers, errors, cancellation, absence. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { realClock } from '../../src/wire/real-clock.ts'
import { readPythonProbe } from '../../src/work/probe-python.ts'
import { otlpRig } from '../support/otlp-rig.ts'
import { call, parentOf } from '../support/otlp-spans.ts'

const hasPython = (() => {
  try {
    return execFileSync('python3', ['-c', 'import sys; print(sys.version_info >= (3, 8))'], { encoding: 'utf8' }).trim() === 'True'
  } catch {
    return false
  }
})()

/** Runs a program beside the probe's file; gives what it printed. */
async function python(program: string, url: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'probe-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'impatient_hop_probe.py'), readPythonProbe())
  writeFileSync(join(folder, 'main.py'), program)
  const child = spawn('python3', ['main.py'], {
    cwd: folder,
    env: { ...process.env, IMPATIENT_HOP_WORK_URL: url, PYTHONDONTWRITEBYTECODE: '1' },
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const [code] = (await once(child, 'close')) as [number]
  return `${output.trim()}|${code}`
}

describe.skipIf(!hasPython)('python3', () => {
  const NEAR_MS = 50
  async function rigWithCall() {
    const rig = await otlpRig()
    const openedAtMs = realClock.nowMs()
    rig.register(call('c1', { openedAtMs }))
    return { ...rig, events: () => rig.told.map(({ report }) => `${report.event} ${report.outcome ?? ''}`.trim()) }
  }
  const TP = JSON.stringify(parentOf(1))

  test('with, async with, errors and cancellation; exit sends what waits [work.probe-python]', async () => {
    const rig = await rigWithCall()
    const printed = await python(
      `import asyncio, time
from impatient_hop_probe import track_work
TP = ${TP}
with track_work(TP, 7):
    time.sleep(0.3)
try:
    with track_work(TP, 7):
        raise ValueError("mine")
except ValueError as error:
    print(error)
async def main():
    async def work():
        async with track_work(TP, 7):
            await asyncio.sleep(60)
    task = asyncio.create_task(work())
    await asyncio.sleep(0.05)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print("cancelled")
asyncio.run(main())
work = track_work(TP, 7).start()
work.end("error")
work.end("ok")
`,
      rig.url,
    )
    expect(printed).toBe('mine\ncancelled|0')
    expect(rig.events()).toEqual(['start', 'end ok', 'start', 'end error', 'start', 'abort aborted', 'start', 'end error'])
    const [start, end] = rig.told.map(({ report }) => report.workAtMs)
    expect(Math.abs((end ?? 0) - (start ?? 0) - 300)).toBeLessThan(NEAR_MS)
    expect(new Set(rig.counted)).toEqual(new Set(['probe matched']))
  })
  test('contexts and the middleware, on stand-ins of their documented shape', async () => {
    const rig = await rigWithCall()
    const printed = await python(
      `import asyncio
from types import SimpleNamespace as NS
from impatient_hop_probe import WorkMiddleware, track_work_of
TP = ${TP}
def ctx(headers=None, meta=None):
    return NS(request_context=NS(request_id=7, meta=meta, request=None if headers is None else NS(headers=headers)))
for one in (ctx(headers={"traceparent": TP}), ctx(meta=NS(traceparent=TP)), ctx(meta={"traceparent": TP}), ctx(), None, object()):
    with track_work_of(one):
        pass
async def ok(context):
    return NS(is_error=False)
async def bad(context):
    return NS(isError=True)
async def main():
    middleware = WorkMiddleware()
    call = NS(method="tools/call", fastmcp_context=ctx(meta=NS(traceparent=TP)))
    print((await middleware(call, ok)).is_error, (await middleware(call, bad)).isError)
    await middleware(NS(method="tools/list", fastmcp_context=None), ok)
asyncio.run(main())
`,
      rig.url,
    )
    expect(printed).toBe('False True|0')
    await vi.waitFor(() => expect(rig.told).toHaveLength(10), { timeout: 5_000 })
    expect(rig.events().slice(-4)).toEqual(['start', 'end ok', 'start', 'end error'])
  })
  test('an absent sidecar, one switched off, an address that is none: nothing raises, exit is not held up', async () => {
    const program = `import time
from impatient_hop_probe import Probe, flush, track_work
begun = time.monotonic()
for _ in range(1500):
    with track_work(${TP}, object() if _ == 3 else 7):
        pass
probe = Probe()
for _ in range(1500):
    probe.send({})
print(time.monotonic() - begun < 20, probe.flush(0.01), probe.dropped >= 499)
for url in ("off", "ftp://x", "http://["):
    probe = Probe(url)
    with track_work(${TP}, 7, probe):
        pass
    print(probe.flush(0.01), probe.sent, probe.dropped)
`
    expect(await python(program, 'http://127.0.0.1:1/work')).toBe(`True False True${'\nTrue 0 0'.repeat(3)}|0`)
  })
})
