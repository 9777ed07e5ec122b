const names = ['raw', 'dag-pb', 'dag-cbor', 'dag-json', 'cbor', 'json'] as const

/** Name of a codec that nodes can be read and written in. */
export type NodeCodecName = (typeof names)[number]

/** Names of the codecs that `isNodeCodec` knows. */
export function nodeCodecNames(): readonly NodeCodecName[] {
  return names
}
