import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { RepoCorruptError } from './errors.ts'
import { readOptional, writeAtomic, writeIfAbsent } from './files.ts'

/** A new Ed25519 key. */
export async function newPrivateKey(): Promise<PrivateKey> {
  return await generateKeyPair('Ed25519')
}

/**
 * Writes the key, readable by its owner only. Without a key a new one is made,
 * unless there is one already: a crash in the middle of `init` must not cost an identity.
 */
export async function writeIdentity(path: string, privateKey: PrivateKey | undefined): Promise<void> {
  if (privateKey === undefined) {
    await writeIfAbsent(path, privateKeyToProtobuf(await newPrivateKey()), 0o600)
  } else {
    await writeAtomic(path, privateKeyToProtobuf(privateKey), 0o600)
  }
}

/** Reads the key. Errors: RepoCorruptError where there is none, or none that can be read. */
export async function readIdentity(path: string): Promise<PrivateKey> {
  const bytes = await readOptional(path)
  if (bytes === undefined) {
    throw new RepoCorruptError(`the private key ${path} is missing: restore it from a backup, or make a new repo`)
  }
  try {
    return privateKeyFromProtobuf(new Uint8Array(bytes))
  } catch (cause) {
    throw new RepoCorruptError(`the private key ${path} cannot be read: restore it from a backup, or make a new repo`, { cause })
  }
}
