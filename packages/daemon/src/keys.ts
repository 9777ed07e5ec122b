import { privateKeyFromProtobuf } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { InvalidParametersError } from '@shardswap/interface'

/** A private key as a repo keeps its own: libp2p's protobuf. Errors: InvalidParametersError, which tells nothing of the bytes. */
export function privateKeyOf(bytes: Uint8Array): PrivateKey {
  try {
    return privateKeyFromProtobuf(bytes)
  } catch {
    throw new InvalidParametersError('this is no private key: give the file "identity.key" of a repo, or a key that Kubo exported')
  }
}
