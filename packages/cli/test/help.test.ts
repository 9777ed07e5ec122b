import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '../src/program.ts'
import { plainFlags } from '../src/flags.ts'
import { Shell } from '../src/shell.ts'
import { ok, run } from './command.ts'

function commandPaths(): string[][] {
  const paths: string[][] = [[]]
  for (const command of createProgram(new Shell()).commands) {
    paths.push([command.name()])
    for (const sub of command.commands) paths.push([command.name(), sub.name()])
  }
  return paths
}

test('there is every command that is promised', () => {
  const names = commandPaths().map((path) => path.join(' '))
  for (const name of [
    'demo',
    'init',
    'daemon',
    'id',
    'add',
    'cat',
    'get',
    'ls',
    'version',
    'peers',
    'report',
    'ledger',
    'admission',
    'register',
    'register claim',
    'register delegate',
    'register use',
    'unregister',
    'routing findprovs',
    'routing findpeer',
    'routing provide',
    'bootstrap list',
    'swarm peers',
    'swarm connect'
  ])
    expect(names).toContain(name)
  for (const name of ['block put', 'block get', 'block stat', 'block rm', 'dag import', 'dag export', 'repo stat', 'repo verify'])
    expect(names).toContain(name)
})

/** What `--help` of a command prints; that the process ends with 0 then is another test's. */
function helpOf(path: readonly string[]): string {
  let command: Command | undefined = createProgram(new Shell())
  for (const name of path) command = command?.commands.find((each) => each.name() === name)
  let text = ''
  command?.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
  return text
}

test('every command has a help with examples and its options', () => {
  for (const path of commandPaths()) {
    const help = helpOf(path)
    expect(help).toContain('Examples:')
    expect(help).toContain(`$ shardswap ${path.join(' ')}`.trimEnd())
    expect(help).toContain('--repo <dir>')
  }
})

const wrong: [string, string[]][] = [
  ['no command', []],
  ['an unknown command', ['frob']],
  ['an unknown option', ['ls', '--frob', 'x']],
  ['a missing argument', ['cat']],
  ['a duration without a unit', ['--timeout', '10', 'id']],
  ['a duration of words', ['id', '--timeout', 'soon']],
  ['a chunk of nothing', ['add', '--chunker', 'size-0', 'x']],
  ['a chunk that no block holds', ['add', '--chunker', 'size-99999999', 'x']],
  ['a CID version that is none', ['add', '--cid-version', '2', 'x']],
  ['an unknown hash function', ['add', '--hash', 'md4', 'x']],
  ['an unknown codec', ['block', 'put', '--cid-codec', 'dag-frob']],
  ['a peer that is no multiaddr', ['--peer', 'example.com', 'id']],
  ['an API for all the world', ['daemon', '--api', '/ip4/0.0.0.0/tcp/5001']],
  ['a CID that is none', ['cat', 'frob']],
  ['a CID that is none, for a block', ['block', 'get', 'frob']],
  ['a path where a CID is meant', ['block', 'get', 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy/x']],
  ['an offset below zero', ['cat', '--offset=-1', 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy']],
  ['a demo of one peer', ['demo', '--peers', '1']],
  ['a demo of no size', ['demo', '--size', 'big']],
  ['a demo that kills its only provider', ['demo', '--peers', '2', '--kill']],
  ['a look without its length', ['peers', '--watch', '--every', '5']],
  ['a period of nobody', ['peers', '--period', '2026-11-30']],
  ['a standing that is watched', ['peers', '--me-at', '12D3', '--watch']],
  ['a standing at no multiaddr', ['peers', '--me-at', '/ip4']],
  ['a ledger of nobody', ['ledger', 'frob']],
  ['a claim for nobody', ['register', 'claim', 'frob']],
  ['a delegation to nobody', ['register', 'delegate', 'frob']],
  ['no delegation at all', ['register', 'use']],
  ['a delegation and none', ['register', 'use', 'file', '--none']],
  ['an owner for a claim', ['register', 'claim', '12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU', '--owner-key', 'file']],
  ['a part of register that there is not', ['register', 'frob']],
  ['a lifetime of nothing', ['register', '--lifetime', '0d']],
  ['a lifetime of words', ['register', 'claim', '--lifetime', 'long', '12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU']],
  ['a key of no name', ['register', '--owner-key', '']],
  ['a revocation of nobody', ['unregister', '--client', 'frob']],
  ['an offline daemon', ['daemon', '--offline']],
  ['offline and a peer', ['--offline', '--peer', '/ip4/127.0.0.1/tcp/1', 'id']]
]

test.each(wrong)('wrong usage ends with 2 and a line that says what is wrong: %s', async (_name, args) => {
  const { code, stdout, stderr } = await run(args)
  expect(code).toBe(2)
  expect(stdout).toBe('')
  expect(stderr).not.toMatch(/\n\s+at /)
  expect(stderr.length).toBeGreaterThan(10)
})

test('a command of Kubo that there is not is said to be one, with what to use in its place', async () => {
  const { code, stderr } = await run(['object', 'get', 'x'])
  expect([code, stderr.split('\n')[0]]).toEqual([
    2,
    'error: "object" is a command of Kubo that this node does not have: use dag get, dag put and block get'
  ])
  expect((await run(['repo', 'ping'])).stderr).toContain("unknown command 'ping'")
})

test('help that is asked for ends with 0, in each way to ask', async () => {
  for (const [args, words] of [
    [['help'], 'Usage: shardswap [options]'],
    [['help', 'swarm'], 'Usage: shardswap swarm'],
    [['swarm', 'help', 'peers'], 'Usage: shardswap swarm peers'],
    [['add', '--help'], 'Usage: shardswap add']
  ] as const) {
    const { code, stdout, stderr } = await run(args)
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
    expect(stdout).toContain(words)
  }
})

test('version needs no repo', async () => {
  expect(await ok(['--version'])).toMatch(/^shardswap version \d+\.\d+\.\d+$/)
  expect(await ok(['version'])).toMatch(/^shardswap version \d+\.\d+\.\d+$/)
  expect(await ok(['version', '-n'])).toMatch(/^\d+\.\d+\.\d+$/)
  expect(JSON.parse(await ok(['version', '--json']))).toMatchObject({ Version: expect.stringMatching(/^\d/) as string, Repo: '2' })
})

test('without a repo the message says how to make one', async () => {
  const { code, stderr } = await run(['id'])
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Error: .*shardswap init/)
  expect(stderr.trim().split('\n')).toHaveLength(1)
})

test('the help of a part of register names the options that go with it, and no others', async () => {
  const help = await ok(['register', 'claim', '--help'])
  expect(help).toContain('--lifetime <duration>  how long it holds, e.g. 12h or 30d (default: 30d)')
  expect(help).not.toContain('--owner-key')
  expect(await ok(['register', 'delegate', '--help'])).toContain('--client-key')
})

test("Kubo's way to write flags is understood", () => {
  expect(plainFlags(['add', '--raw-leaves=false', '--trickle=true', '--pin=false', '--', '--trickle=true'])).toEqual([
    'add',
    '--no-raw-leaves',
    '--trickle',
    '--no-pin',
    '--',
    '--trickle=true'
  ])
})
