/** Kubo's own command against our daemon and against a Kubo with the same content: the same words in, the same words out. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Daemon, startDaemon } from '@shardswap/daemon'
import { messageOf } from '@shardswap/interface'
import { memoryRepo } from '@shardswap/repo'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kuboAvailable, kuboBuildMs } from '../src/build-kubo.ts'
import { type KuboNode, startKubo } from '../src/kubo.ts'

const dir = 'QmTCd1RBywSo78aZN8BiZizgFg9s3r16zyNK5nfofJanDC'
const node = 'bafyreiafaocgo77lgrrgk7ml6heamv6muwp6hgakigkmekf44tdxxbkeji'
const missing = 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'
const nobody = '12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU'

/** What is run in order, in a folder with `f.txt` and `d`; what comes after `<` is the input. */
const same = [
  'add f.txt',
  'add -Q f.txt',
  'add -r d',
  'add -q -r d',
  'add -r --cid-version=1 d',
  'add -r -w --raw-leaves --chunker=size-4096 d',
  'add -n f.txt',
  'add --trickle --pin=false f.txt',
  'add --hash=blake3 --pin=false f.txt',
  'add --preserve-mode --preserve-mtime -r -Q --pin=false d',
  'add --mode=0640 --mtime=1234567 --mtime-nsecs=5 -r --pin=false d',
  'add --silent f.txt',
  'add -Q < some text',
  `cat ${dir}/a.txt`,
  `cat -o 1 -l 1 /ipfs/${dir}/a.txt`,
  `cat --offset=10 ${dir}/a.txt`,
  `cat ${dir}/a.txt ${dir}/a.txt`,
  `cat < ${dir}/a.txt\n${dir}/a.txt\n`,
  `ls ${dir}`,
  `ls -v ${dir}`,
  `ls -s ${dir}`,
  `ls -l ${dir}`,
  'ls -l QmbTpvy7bB6oLLZMWF7ooBHAXkyNpTWyLc3v5wu4SCFxLN',
  `ls --size=false --resolve-type=false ${dir}`,
  `ls ${dir}/sub ${dir}`,
  `block stat ${dir}`,
  `block get ${dir}`,
  'block put f.txt',
  'block put --format=v0 f.txt',
  'block put --format=cbor f.txt',
  'block put --cid-codec=dag-cbor --mhtype=sha2-512 < \u00a0',
  `block rm -f ${missing}`,
  `dag put < {"a":{"b":[1,{"/":"${dir}"}]},"x":1.0}`,
  'dag put --store-codec=dag-json --hash=sha2-512 < {"b":2,"a":1}',
  'dag put --input-codec=json --store-codec=cbor < {"b":2,"a":[1.5]}',
  `dag get ${node}`,
  `dag get ${node}/a/b/1/a.txt`,
  `dag get --output-codec=dag-cbor ${node}`,
  `dag get /ipld/${dir}/Links/0/Name`,
  `dag resolve ${node}/a/b/0`,
  `dag resolve ${dir}/sub`,
  `dag stat --progress=false ${dir} ${dir}/sub`,
  `dag export ${dir}`,
  `refs ${dir}`,
  `refs -r -u ${dir}`,
  `refs -r -u ${dir}/sub ${dir} ${dir}`,
  `refs < ${dir}\n${dir}/sub\n`,
  `ls < ${dir}\n${dir}/sub\n`,
  `block stat < ${dir}\n${dir}/sub\n`,
  `refs -r -e ${node}`,
  `refs -r --max-depth=2 --format=<src>-<linkname>-<dst> ${dir}`,
  `resolve /ipfs/${dir}/sub`,
  `pin ls --type=recursive -q ${dir}`,
  `pin rm ${dir}`,
  `pin add < ${dir}\n${dir}/sub\n`,
  `pin rm < ${dir}\n${dir}/sub\n`,
  `pin add ${dir}`,
  `pin add --name=name ${dir}/sub`,
  `pin add --recursive=false ${dir}`,
  `pin update ${dir} ${dir}/sub`,
  `pin update ${dir}/a.txt ${dir}/sub`,
  'pin ls --names --type=direct',
  `pin ls --type=indirect ${dir}/sub`,
  `pin ls ${dir}/a.txt`,
  'bitswap wantlist',
  `bitswap ledger ${nobody}`,
  `swarm disconnect /p2p/${nobody}`
]

/** Calls whose answers have the same fields, each of the same type, under the same status and headers. */
const calls = [
  'id',
  'version',
  'repo/stat',
  'repo/verify',
  'refs/local',
  `refs?arg=${dir}`,
  `ls?arg=${dir}`,
  `ls?arg=${dir}&stream=true`,
  `cat?arg=${dir}/a.txt`,
  `get?arg=${dir}`,
  `get?arg=${dir}&archive=true&compress=true`,
  `block/stat?arg=${dir}`,
  `block/get?arg=${dir}`,
  `dag/get?arg=${dir}`,
  `dag/resolve?arg=${dir}`,
  `dag/stat?arg=${dir}`,
  `dag/export?arg=${dir}`,
  `resolve?arg=${dir}`,
  `pin/ls?arg=${dir}`,
  'bitswap/stat',
  'bitswap/wantlist',
  `bitswap/ledger?arg=${nobody}`,
  'swarm/addrs',
  'swarm/addrs/local',
  'swarm/addrs/listen',
  'stats/bw',
  'stats/repo',
  `block/get?arg=${missing}&offline=true`,
  `cat?arg=${dir}/nope`,
  `dag/get?arg=${dir}/nope`
]

interface Answer {
  readonly status: number
  readonly headers: object
  readonly shape: unknown
}

/** How an answer looks, whatever its figures: of lines the last one, of bytes only that they are. */
async function answerOf(url: string): Promise<Answer> {
  const response = await fetch(url, { method: 'POST' })
  const names = ['content-type', 'x-stream-output', 'x-chunked-output']
  const headers = Object.fromEntries(names.map((name) => [name, response.headers.get(name)]))
  const body = await response.text()
  const isJson = response.headers.get('content-type') === 'application/json'
  return { status: response.status, headers, shape: isJson ? shapeOf(JSON.parse(body.trimEnd().split('\n').at(-1) ?? '')) : 'bytes' }
}

/** Types in place of values; of a list the first entry's, of a map by ids the values'. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])]
  if (typeof value !== 'object' || value === null) return typeof value
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [/^(?:12D3|Qm)/.test(key) ? 'id' : key, shapeOf(inner)])
  return Object.fromEntries(entries)
}

/** What differs, and what ours says: the reason is in docs/rpc.md. */
const different: readonly (readonly [command: string, ours: RegExp])[] = [
  ['add --inline f.txt', /option "inline" is not supported/],
  ['add --chunker=rabin f.txt', /unsupported chunker/],
  [`cat ${dir}`, /is a directory, not a file/],
  ['cat frob', /"frob" is not a CID/],
  [`ls ${dir}/a.txt`, /^\S+ 3 a\.txt\n$/],
  [`block rm ${missing}`, /is not in the repo/],
  ['dag put < {"a":', /codec dag-json/],
  ['files ls', /Command not found/]
]

describe.runIf(kuboAvailable(import.meta.filename))('the command of Kubo prints against our daemon what it prints against Kubo', () => {
  let kubo: KuboNode
  let ours: Daemon
  let folder = ''

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shardswap-command-'))
    await mkdir(join(folder, 'd', 'sub'), { recursive: true })
    await writeFile(join(folder, 'f.txt'), 'hello world')
    await writeFile(join(folder, 'd', 'a.txt'), 'abc')
    await writeFile(join(folder, 'd', 'sub', 'z.bin'), new Uint8Array(600_000))
    kubo = await startKubo()
    ours = await startDaemon({ repo: await memoryRepo(), listen: ['/ip4/127.0.0.1/tcp/0'], api: '/ip4/127.0.0.1/tcp/0' })
  }, kuboBuildMs)

  afterAll(async () => {
    await ours?.stop()
    await kubo?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** What is printed, or the error that is; paths of files are given whole, as the command runs elsewhere. */
  async function run(command: string, api?: string): Promise<string> {
    const [words = '', input] = command.split(' < ')
    const args = words.split(' ').map((word) => (word === 'f.txt' || word === 'd' ? join(folder, word) : word))
    const target = api === undefined ? [] : ['--api', api]
    const stdin = input === undefined ? [] : [new TextEncoder().encode(input)]
    return await kubo.run([...target, ...args], stdin).then(
      (bytes) => bytes.toString('latin1'),
      (error: unknown) => messageOf(error).replace(/^.*?failed \(1\): /, '')
    )
  }

  test('for what both can do', async () => {
    for (const command of same) {
      const [ofKubo, ofOurs] = await Promise.all([run(command), run(command, ours.api)])
      expect({ command, printed: ofOurs }).toEqual({ command, printed: ofKubo })
    }
  }, 120_000)

  test('for it gets the same shapes, by the same ways', async () => {
    const { port } = /tcp\/(?<port>\d+)/.exec(await readFile(join(kubo.folder, 'repo', 'api'), 'utf8'))?.groups ?? {}
    const both = [`127.0.0.1:${port}`, `127.0.0.1:${ours.api.split('/').at(-1)}`]
    for (const call of calls) {
      const [ofKubo, ofOurs] = await Promise.all(both.map(async (host) => await answerOf(`http://${host}/api/v0/${call}`)))
      expect({ call, ...ofOurs }).toMatchObject({ call, ...ofKubo })
    }
  }, 120_000)

  test('and says what it cannot', async () => {
    for (const [command, words] of different) {
      const [ofKubo, ofOurs] = await Promise.all([run(command), run(command, ours.api)])
      expect(ofOurs).not.toBe(ofKubo)
      expect(ofOurs).toMatch(words)
    }
  }, 120_000)
})
