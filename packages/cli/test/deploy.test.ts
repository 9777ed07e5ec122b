/** What deploy/ says is done here, as far as it goes without systemd and containers. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder, ok, run, start } from './command.ts'

const root = join(import.meta.dirname, '../../..')
const deploy = join(root, 'deploy')

/** Where they install the command. */
const command = '/usr/local/bin/shardswap'

/** What tests add to a daemon's command line: no public network, and free ports. */
const quiet = ['--init-profile', 'local', '--listen', '/ip4/127.0.0.1/tcp/0', '--api', '/ip4/127.0.0.1/tcp/0']

/** Starts a daemon by a command line, has `checks` succeed beside it, and stops it by a signal. */
async function live(daemonLine: readonly string[], checks: readonly (readonly string[])[], signal: NodeJS.Signals): Promise<void> {
  const repo = join(await folder(), 'repo')
  const daemon = start([...daemonLine, ...quiet], { repo })
  for (const check of checks) expect(await ok(check, { repo })).toContain('the daemon answers')
  const stoppedMs = performance.now()
  daemon.child.kill(signal)
  expect((await daemon.finished).code).toBe(0)
  expect(performance.now() - stoppedMs).toBeLessThan(5000)
}

function valuesOf(unit: string, key: string): string[] {
  return [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)
}

function wordsOf(line: string | undefined): string[] {
  const [file, ...words] = (line ?? '').split(' ')
  expect(file).toBe(command)
  return words
}

test('the systemd unit starts a daemon, counts it as started once it answers, and stops it', async () => {
  const unit = await readFile(join(deploy, 'shardswap.service'), 'utf8')
  const [signal] = valuesOf(unit, 'KillSignal')
  await live(wordsOf(valuesOf(unit, 'ExecStart')[0]), [wordsOf(valuesOf(unit, 'ExecStartPost')[0])], signal as NodeJS.Signals)
  expect(valuesOf(unit, 'Environment')[0]).toContain(`SHARDSWAP_PATH=/var/lib/${valuesOf(unit, 'StateDirectory')[0] ?? ''}`)
  const [health] = valuesOf(await readFile(join(deploy, 'shardswap-health.service'), 'utf8'), 'ExecStart')
  expect(health).toContain(`${command} health --timeout 30s || systemctl try-restart shardswap.service`)
})

test.runIf(existsSync('/usr/bin/systemd-analyze'))('systemd takes the units as they are', async () => {
  const at = await folder()
  const binary = join(at, 'shardswap')
  await writeFile(binary, '#!/bin/sh\n')
  await chmod(binary, 0o755)
  const names = ['shardswap.service', 'shardswap-health.service', 'shardswap-health.timer']
  for (const name of names) {
    await writeFile(join(at, name), (await readFile(join(deploy, name), 'utf8')).replaceAll(command, binary))
  }
  // What it complains of stands on standard error, and makes it fail where it is grave.
  const said = execFileSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', ...names.map((name) => join(at, name))], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe']
  })
  expect(said).toBe('')
})

/** The words of an instruction in JSON form. */
function jsonWords(file: string, pattern: RegExp): string[] {
  return JSON.parse(pattern.exec(file)?.[1] ?? 'null') as string[]
}

test('the image runs the command as it is here, with a check that tells whether it answers', async () => {
  const file = await readFile(join(deploy, 'Containerfile'), 'utf8')
  expect(jsonWords(file, /^ENTRYPOINT (.*)$/m)).toEqual(['shardswap'])
  const [name, ...check] = jsonWords(file, /^HEALTHCHECK .*CMD (.*)$/m)
  expect(name).toBe('shardswap')
  // Docker waits for a start period; here the first look waits.
  await live(jsonWords(file, /^CMD (.*)$/m), [[...check, '--wait'], check], (/^STOPSIGNAL (.*)$/m.exec(file)?.[1] ?? '') as NodeJS.Signals)
  const main = /exec node \/app\/(\S+) /.exec(file)?.[1] ?? ''
  expect(existsSync(join(root, main))).toBe(true)
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    packageManager: string
    devDependencies: { node: string }
  }
  expect(file).toContain(`npm install --global ${manifest.packageManager}`)
  const majors = [...file.matchAll(/^FROM docker\.io\/library\/node:(\d+)-/gm)].map(([, major]) => major)
  expect(majors).toEqual([manifest.devDependencies.node.split('.')[0], manifest.devDependencies.node.split('.')[0]])
  const copied = [...file.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names = '']) => names.split(' '))
  const kept = (await readFile(join(deploy, 'Containerfile.dockerignore'), 'utf8'))
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
  expect(copied.toSorted((one, other) => one.localeCompare(other))).toEqual(kept.toSorted((one, other) => one.localeCompare(other)))
  for (const each of copied) expect({ each, there: existsSync(join(root, each)) }).toEqual({ each, there: true })
})

test('health waits no longer than it may', async () => {
  const repo = join(await folder(), 'repo')
  const late = await run(['health', '--wait', '--timeout', '500ms'], { repo })
  expect(late).toMatchObject({ stdout: '', stderr: expect.stringContaining('timed out') as string })
  expect(late.code).not.toBe(0)
})
