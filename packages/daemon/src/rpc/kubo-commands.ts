/** The commands of Kubo 0.42's RPC: first words, and what can stand below them. */
const words: Readonly<Record<string, string>> = {
  add: '',
  bitswap: 'ledger reprovide stat wantlist',
  block: 'get put rm stat',
  bootstrap: 'add list rm rm/all',
  cat: '',
  cid: 'base32 bases codecs format hashes inspect',
  commands: 'completion completion/bash completion/fish completion/zsh',
  config: 'edit profile profile/apply replace show',
  dag: 'export get import put resolve stat',
  dht: 'findpeer findprovs get provide put query',
  diag: 'cmds cmds/clear cmds/set-time datastore datastore/count datastore/get datastore/put healthy profile sys',
  files: 'chcid chmod chroot cp flush ls mkdir mv read rm stat touch write',
  filestore: 'dups ls verify',
  get: '',
  id: '',
  key: 'export gen import list ls rename rm rotate sign verify',
  log: 'level ls tail',
  ls: '',
  mount: '',
  multibase: 'decode encode list transcode',
  name: 'get inspect publish pubsub pubsub/cancel pubsub/state pubsub/subs put resolve',
  object: 'data diff get links new patch patch/add-link patch/append-data patch/rm-link patch/set-data put stat',
  p2p: 'close forward listen ls stream stream/close stream/ls',
  pin: 'add ls remote remote/add remote/ls remote/rm remote/service remote/service/add remote/service/ls remote/service/rm rm update verify',
  ping: '',
  provide: 'clear once stat',
  pubsub: 'ls peers pub reset sub',
  refs: 'local',
  repo: 'gc ls migrate stat verify version',
  resolve: '',
  routing: 'findpeer findprovs get provide put reprovide',
  shutdown: '',
  stats: 'bitswap bw dht provide repo reprovide',
  swarm:
    'addrs addrs/autonat addrs/listen addrs/local connect disconnect filters filters/add filters/rm peering peering/add peering/ls peering/rm peers resources',
  update: 'check clean install revert versions',
  version: 'check deps'
}

/** Names of all of them, as in a path: `swarm/addrs/local`. */
export const kuboCommands: ReadonlySet<string> = new Set(
  Object.entries(words).flatMap(([first, below]) => [
    first,
    ...below
      .split(' ')
      .filter((name) => name !== '')
      .map((name) => `${first}/${name}`)
  ])
)
