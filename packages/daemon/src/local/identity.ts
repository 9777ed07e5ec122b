import { publicKeyToProtobuf } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'

/** The public half of a key as `id` prints it: protobuf in base64. */
export function publicKeyText(key: PrivateKey): string {
  return Buffer.from(publicKeyToProtobuf(key.publicKey)).toString('base64')
}
