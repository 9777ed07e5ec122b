/** What the config of a new repo starts with, by the name of a profile. */
import type { ConfigJson } from './config/parse.ts'

/** `public`: part of the public network. `local`: nothing is looked up or announced, and only peers that are named are dialled. */
export const profileNames = ['public', 'local'] as const

/** The name of a profile. */
export type ProfileName = (typeof profileNames)[number]

/** Peers that anybody may begin with, kept by those who keep IPFS going. Those that speak no TCP are left out. */
const publicBootstrap: readonly string[] = [
  '/dnsaddr/bootstrap.libp2p.io/p2p/QmNnooDu7bfjPFoTZYxMNLWUQJyrVwtbZg5gBMjTezGAJN',
  '/dnsaddr/bootstrap.libp2p.io/p2p/QmbLHAnMoJPWSCR5Zhtx6BHJX9KiKNN6tpvbUcqanj75Nb',
  '/dnsaddr/bootstrap.libp2p.io/p2p/QmcZf59bWwK5XFi76CZX8cbJ4BhTzzA3gU1ZjYZcYW3dwt',
  '/dnsaddr/va1.bootstrap.libp2p.io/p2p/12D3KooWKnDdG3iXw9eTFijk3EWSunZcFi54Zka4wmtqtt6rPxc8',
  '/ip4/104.131.131.82/tcp/4001/p2p/QmaCpDMGvV2BGHeYERUEnRQAwe3N8SzbUtfsmvsqQLuvuJ'
]

/** Answers `/routing/v1` from the public DHT and from the indexers that follow it. */
const publicDelegated: readonly string[] = ['https://delegated-ipfs.dev']

/** What a profile writes beside the defaults, for `initRepo`. */
export function profileConfig(name: ProfileName): ConfigJson {
  if (name === 'local') return {}
  return { routing: { bootstrap: publicBootstrap, mdns: true, dht: 'client', delegated: publicDelegated, provide: 'roots' } }
}
