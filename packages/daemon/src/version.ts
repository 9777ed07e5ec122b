/** Version of this release; every package carries the same. */
export const version = '0.1.0'

/** How this node introduces itself to peers. */
export const agentVersion = `shardswap/${version}`
