/** Nodes, links and connections by the command, without a daemon and with one. */
import { expect, test } from 'vitest'
import { newRepo, ok, run, someBytes, startDaemon } from './command.ts'

const nobody = '12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU'

test('a node is put, got, resolved, measured and listed, with the same words from the repo and from a daemon', async () => {
  const repo = await newRepo()
  const file = await ok(['add', '-Q', '--cid-version=1'], { repo, stdin: someBytes(600_000) })
  const node = await ok(['dag', 'put'], { repo, stdin: `{"a":{"b":[1,{"/":"${file}"}]},"x":1.0}` })
  const commands: string[][] = [
    ['dag', 'get', `${node}/a`],
    ['dag', 'resolve', `${node}/a/b/0`],
    ['dag', 'stat', '--json', node, file],
    ['refs', '-r', '-u', '--format', '<src> <dst>', node]
  ]
  const without = []
  for (const command of commands) without.push(await ok(command, { repo }))
  const [value, place, sizes, links] = without
  expect(value).toBe(`{"b":[1,{"/":"${file}"}]}`)
  expect(place).toBe(`${node}/a/b/0`)
  expect(JSON.parse(sizes ?? '')).toMatchObject({
    UniqueBlocks: 5,
    DagStats: [
      { Cid: node, NumBlocks: 5 },
      { Cid: file, NumBlocks: 4 }
    ]
  })
  expect(links?.split('\n')).toHaveLength(4)
  expect(links).toContain(`${node} ${file}\n`)
  const wrong = await run(['dag', 'get', `${node}/nope`], { repo })
  expect(wrong).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/NotFoundError: no link named "nope"/) as string })
  const { daemon, address } = await startDaemon(repo)
  const withDaemon = []
  for (const command of commands) withDaemon.push(await ok(command, { repo }))
  expect(withDaemon).toEqual(without)
  const [listen = '', id = ''] = address.split('/p2p/')
  expect(await ok(['swarm', 'addrs', 'local', '--id'], { repo })).toBe(`${listen}/p2p/${id}`)
  expect(await ok(['id', '-f', '<id> <pver>\\n<addrs>'], { repo })).toBe(`${id} ipfs/0.1.0\n${address}`)
  expect(await ok(['bitswap', 'stat'], { repo })).toMatch(/^bitswap status\n\tblocks received: 0\n/)
  const gone = await run(['swarm', 'disconnect', `/p2p/${nobody}`], { repo })
  expect(gone).toMatchObject({ code: 1, stdout: `disconnect ${nobody} failure: not connected\n`, stderr: '' })
  daemon.child.kill('SIGTERM')
  expect((await daemon.finished).code).toBe(0)
})

test('what needs a daemon says so, and wrong words are wrong usage', async () => {
  const repo = await newRepo()
  const stat = await run(['bitswap', 'stat'], { repo })
  expect(stat).toMatchObject({ code: 5, stdout: '', stderr: expect.stringMatching(/OfflineError.*shardswap daemon/) as string })
  for (const args of [
    ['dag', 'get', '--output-codec', 'frob', nobody],
    ['refs', '-e', '--format', '<dst>', 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'],
    ['ping', 'frob']
  ]) {
    expect(await run(args, { repo })).toMatchObject({ code: 2, stdout: '' })
  }
})
