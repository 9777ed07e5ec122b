import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { newRepo, ok, run, start } from './command.ts'

const provider = '12D3KooWKnDdG3iXw9eTFijk3EWSunZcFi54Zka4wmtqtt6rPxc8'
const cid = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'
const Addrs = ['/ip4/127.0.0.1/tcp/1']

/** A delegated router that knows one provider of everything. */
async function startRouter(): Promise<string> {
  const server = createServer((request, response) => {
    const list = request.url?.includes('/providers/') === true ? 'Providers' : 'Peers'
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ [list]: [{ Schema: 'peer', ID: provider, Addrs }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a daemon asks the routers of its config, and says what they say', async () => {
  const repo = await newRepo()
  const addresses = { swarm: ['/ip4/127.0.0.1/tcp/0'], api: '/ip4/127.0.0.1/tcp/0' }
  const bootstrap = [`/ip4/127.0.0.1/tcp/1/p2p/${provider}`]
  await writeFile(join(repo, 'config'), JSON.stringify({ addresses, routing: { delegated: [await startRouter()], bootstrap } }))
  const alone = await run(['routing', 'findprovs', cid], { repo })
  expect(alone).toMatchObject({ code: 5, stderr: expect.stringContaining('start "shardswap daemon" first') as string })
  const daemon = start(['daemon'], { repo })
  await daemon.says('Daemon is ready')
  const [found, json, where, list, wrong] = await Promise.all([
    ok(['routing', 'findprovs', cid], { repo }),
    ok(['routing', 'findprovs', '-n', '1', '--json', cid], { repo }),
    ok(['routing', 'findpeer', provider], { repo }),
    ok(['bootstrap', 'list'], { repo }),
    run(['routing', 'findprovs', 'nonsense'], { repo })
  ])
  expect(found).toBe(provider)
  expect(JSON.parse(json)).toEqual({ Extra: '', ID: '', Responses: [{ ID: provider, Addrs }], Type: 4 })
  expect(where).toBe(Addrs[0])
  expect(list).toBe(bootstrap[0])
  expect(wrong.code).toBe(2)
})
