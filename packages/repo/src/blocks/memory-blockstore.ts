import type { SizedBlockstore } from '../types.ts'
import { EngineBlockstore } from './engine-blockstore.ts'
import { MemoryEngine } from './memory-engine.ts'

/** A block store that lives and dies with this process. */
export function memoryBlockstore(): SizedBlockstore {
  return new EngineBlockstore(new MemoryEngine(), { verifyOnRead: false })
}
