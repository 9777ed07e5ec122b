/** The engines that the store's bench compares, each behind the same four calls. */
import * as fs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { multihashOf } from '@shardswap/hashes'
import { ClassicLevel } from 'classic-level'
import { open as openLmdb } from 'lmdb'
import { base32 } from 'multiformats/bases/base32'
import { DiskEngine } from '../src/blocks/disk-engine.ts'

export interface Candidate {
  put(key: Uint8Array, bytes: Uint8Array): Promise<void>
  get(key: Uint8Array): Promise<Uint8Array | undefined>
  close(): Promise<void>
}

/**
 * What an acknowledged put survives: the end of the process, or the loss of
 * power too (each put, or each group of puts, is forced to the disk).
 */
export type Durability = 'process' | 'power'

const openers = {
  flat: openFlat,
  level: openLevel,
  lmdb: openLmdbStore,
  sqlite: openSqlite,
  ours: openOurs,
  checked: openChecked
}

export type CandidateName = keyof typeof openers
export const candidateNames = Object.keys(openers) as CandidateName[]

/** Opens an engine in a folder that is empty, or that the same engine filled. */
export async function openCandidate(name: CandidateName, folder: string, durability: Durability): Promise<Candidate> {
  await fs.mkdir(folder, { recursive: true })
  return await openers[name](folder, durability)
}

async function openFlat(folder: string, durability: Durability): Promise<Candidate> {
  let count = 0
  const pathOf = (key: Uint8Array): string => {
    const name = base32.baseEncode(key)
    return join(folder, name.slice(-3, -1), name)
  }
  await fs.mkdir(join(folder, 'unfinished'), { recursive: true })
  return {
    put: async (key, bytes) => {
      const aside = join(folder, 'unfinished', String(count++))
      await fs.writeFile(aside, bytes, { flush: durability === 'power' })
      const path = pathOf(key)
      try {
        await fs.rename(aside, path)
      } catch {
        await fs.mkdir(dirname(path), { recursive: true })
        await fs.rename(aside, path)
      }
    },
    get: async (key) => await fs.readFile(pathOf(key)),
    close: async () => undefined
  }
}

async function openLevel(folder: string, durability: Durability): Promise<Candidate> {
  const db = new ClassicLevel<Uint8Array, Uint8Array>(folder, { keyEncoding: 'view', valueEncoding: 'view', compression: false })
  await db.open()
  return {
    put: async (key, bytes) => {
      await db.put(key, bytes, { sync: durability === 'power' })
    },
    get: async (key) => await db.get(key),
    close: async () => {
      await db.close()
    }
  }
}

async function openLmdbStore(folder: string, durability: Durability): Promise<Candidate> {
  const db = openLmdb<Uint8Array, Uint8Array>({
    path: folder,
    keyEncoding: 'binary',
    encoding: 'binary',
    noSync: durability === 'process',
    overlappingSync: false
  })
  return {
    put: async (key, bytes) => {
      await db.put(key, bytes)
    },
    get: async (key) => db.get(key),
    close: async () => {
      await db.close()
    }
  }
}

async function openSqlite(folder: string, durability: Durability): Promise<Candidate> {
  const db = new DatabaseSync(join(folder, 'blocks.sqlite'))
  db.exec('PRAGMA journal_mode = WAL')
  db.exec(`PRAGMA synchronous = ${durability === 'power' ? 'FULL' : 'OFF'}`)
  db.exec('CREATE TABLE IF NOT EXISTS blocks (key BLOB PRIMARY KEY, bytes BLOB) WITHOUT ROWID')
  const insert = db.prepare('INSERT OR REPLACE INTO blocks VALUES (?, ?)')
  const select = db.prepare('SELECT bytes FROM blocks WHERE key = ?')
  return {
    put: async (key, bytes) => {
      insert.run(key, bytes)
    },
    get: async (key) => {
      const row = select.get(key)
      return row?.['bytes'] instanceof Uint8Array ? row['bytes'] : undefined
    },
    close: async () => {
      db.close()
    }
  }
}

async function openOurs(folder: string): Promise<Candidate> {
  const engine = await DiskEngine.open(folder, false)
  return {
    put: async (key, bytes) => {
      await engine.write(key, bytes)
    },
    get: async (key) => await engine.read(key),
    close: async () => {
      await engine.close()
    }
  }
}

/** Ours, and each block that is read is hashed, as the repo does by default. */
async function openChecked(folder: string): Promise<Candidate> {
  const ours = await openOurs(folder)
  return {
    ...ours,
    get: async (key) => {
      const bytes = await ours.get(key)
      if (bytes !== undefined) multihashOf(0x12, 32, bytes)
      return bytes
    }
  }
}
