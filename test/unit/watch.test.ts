/** Watching the configuration file on a real file system: ConfigMap swaps, rename-over, half-written files, and what is told how often. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LOOK_EVERY_MS, SETTLE_MS, watchFile } from '../../src/config/watch.ts'
import type { Clock } from '../../src/core/clock.ts'
import { realClock } from '../../src/wire/real-clock.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { whenTestEnds } from '../support/raw-socket.ts'

/** The look from time to time never comes: what is told here, the system told. */
const withoutLooks: Clock = {
  ...realClock,
  after: (delayMs, run) => (delayMs >= LOOK_EVERY_MS ? { cancel: () => undefined, again: () => undefined } : realClock.after(delayMs, run)),
}
const folderOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'watch-'))
  whenTestEnds(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
function watching(file: string, clock: Clock = withoutLooks) {
  let told = 0
  const watch = watchFile({
    file,
    clock,
    changed: () => {
      told += 1
    },
  })
  whenTestEnds(watch.close)
  return { watch, told: () => told, until: (count: number) => expect.poll(() => told, { timeout: 10_000, interval: 20 }).toBe(count) }
}

test('three swaps of a ConfigMap are told one by one [faults2.watch-configmap]', async () => {
  const folder = folderOf()
  const swap = (n: number): void => {
    // As the kubelet does it: a new folder, a symlink beside, and a rename over `..data`.
    mkdirSync(join(folder, `..${n}`))
    writeFileSync(join(folder, `..${n}`, 'config.yaml'), `n: ${n}\n`)
    symlinkSync(`..${n}`, join(folder, '..data_tmp'))
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    if (n > 1) rmSync(join(folder, `..${n - 1}`), { recursive: true })
  }
  swap(1)
  symlinkSync(join('..data', 'config.yaml'), join(folder, 'config.yaml'))
  const { until } = watching(join(folder, 'config.yaml'))
  for (const n of [2, 3, 4]) {
    swap(n)
    await until(n - 1)
  }
})

test("an editor's rename-over, again and again, and a file reached by a symlink to elsewhere [faults2.watch-rename]", async () => {
  const [folder, elsewhere] = [folderOf(), folderOf()]
  const real = join(elsewhere, 'real.yaml')
  writeFileSync(real, 'n: 0\n')
  symlinkSync(real, join(folder, 'config.yaml'))
  const { until } = watching(join(folder, 'config.yaml'))
  for (const n of [1, 2, 3]) {
    writeFileSync(join(elsewhere, 'real.yaml~'), `n: ${n}\n`)
    renameSync(join(elsewhere, 'real.yaml~'), real)
    await until(n)
  }
  unlinkSync(join(folder, 'config.yaml'))
  writeFileSync(join(folder, 'config.yaml'), 'n: 4\n')
  await until(4)
})

test('what leaves the content as it was is not told; many writes at once are told once [faults2.watch-content]', async () => {
  const folder = folderOf()
  const file = join(folder, 'config.yaml')
  writeFileSync(file, 'n: 0\n')
  const { told, until } = watching(file)
  writeFileSync(file, 'n: 0\n')
  writeFileSync(join(folder, 'other.yaml'), 'x')
  await pause(SETTLE_MS * 3)
  expect(told()).toBe(0)
  for (let n = 1; n <= 20; n += 1) writeFileSync(file, `n: ${n}\n`)
  await until(1)
  await pause(SETTLE_MS * 3)
  expect(told()).toBe(1)
})

test('a file that goes is told, and so is its coming back; SIGHUP reads whether it changed or not [faults2.watch-content]', async () => {
  const folder = folderOf()
  const file = join(folder, 'config.yaml')
  writeFileSync(file, 'n: 0\n')
  const { watch, until } = watching(file)
  unlinkSync(file)
  await until(1)
  writeFileSync(file, 'n: 0\n')
  await until(2)
  watch.reread()
  await until(3)
})

test('where the system tells nothing, a look from time to time finds the change; closed, it looks no more [faults2.watch-content]', () => {
  const clock = fakeClock()
  let text = 'a'
  let told = 0
  const watch = watchFile({
    file: '/nowhere/config.yaml',
    clock,
    readFile: () => text,
    changed: () => {
      told += 1
    },
    watchFolder: () => {
      throw new Error('ENOSPC')
    },
    realFolder: () => '/elsewhere',
  })
  text = 'b'
  clock.advance(LOOK_EVERY_MS - 1)
  expect(told).toBe(0)
  clock.advance(1)
  expect(told).toBe(1)
  watch.close()
  text = 'c'
  clock.advance(LOOK_EVERY_MS * 3)
  expect([told, clock.armed()]).toEqual([1, 0])
})
