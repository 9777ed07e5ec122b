import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { MemoryDatastore } from 'datastore-core'
import { EngineBlockstore } from './blocks/engine-blockstore.ts'
import { MemoryEngine } from './blocks/memory-engine.ts'
import { memoryConfig } from './config/file.ts'
import { defaultConfig } from './config/parse.ts'
import { newPrivateKey } from './identity.ts'
import { repoVersion } from './limits.ts'
import type { Repo } from './types.ts'

/** A repo that touches no disk; for tests. It is nobody else's, so there is no lock and no address file. */
export async function memoryRepo(options: { readonly privateKey?: PrivateKey } = {}): Promise<Repo> {
  const privateKey = options.privateKey ?? (await newPrivateKey())
  const blocks = new EngineBlockstore(new MemoryEngine(), { verifyOnRead: false })
  return {
    path: ':memory:',
    version: repoVersion,
    raiseVersion: async () => undefined,
    blocks,
    datastore: new MemoryDatastore(),
    privateKey,
    peerId: peerIdFromPrivateKey(privateKey),
    config: defaultConfig,
    configFile: memoryConfig(),
    stat: async () => ({ path: ':memory:', version: repoVersion, ...(await blocks.total()), diskBytes: 0 }),
    verify: (options) => blocks.verify(options),
    sync: async () => undefined,
    setApiAddress: async () => undefined,
    close: async () => {
      await blocks.close()
    }
  }
}
