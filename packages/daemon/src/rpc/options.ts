/** Options of the calls, beside their arguments, for `commands` and docs/rpc.md: names, then the letter that Kubo has for one. */
const fetching = 'offline patient'

const options: Readonly<Record<string, string>> = {
  add: 'chunker,s cid-version raw-leaves hash trickle,t wrap-with-directory,w only-hash,n progress,p pin pin-name silent mode mtime mtime-nsecs preserve-mode preserve-mtime',
  'bitswap/wantlist': 'peer,p',
  'block/get': fetching,
  'block/put': 'cid-codec format,f mhtype mhlen pin allow-big-block',
  'block/rm': 'force,f quiet,q',
  'block/stat': fetching,
  cat: `offset,o length,l ${fetching}`,
  commands: 'flags,f',
  config: 'bool json',
  'dag/export': fetching,
  'dag/get': `output-codec ${fetching}`,
  'dag/import': 'pin-roots stats',
  'dag/put': 'input-codec store-codec hash pin allow-big-block',
  'dag/resolve': fetching,
  'dag/stat': `progress,p ${fetching}`,
  get: `archive,a compress,C compression-level,l ${fetching}`,
  ls: `stream,s size resolve-type ${fetching}`,
  'pin/add': `recursive,r name,n progress ${fetching}`,
  'pin/ls': 'type,t name,n names quiet,q stream,s',
  'pin/rm': 'recursive,r',
  'pin/update': `unpin ${fetching}`,
  'pin/verify': 'verbose quiet,q',
  ping: 'count,n',
  refs: `format edges,e unique,u recursive,r max-depth ${fetching}`,
  'repo/gc': 'stream-errors quiet,q silent',
  resolve: fetching,
  'routing/findprovs': 'num-providers,n',
  'routing/provide': 'recursive,r',
  'stats/bw': 'proto,t poll interval,i',
  'swarm/addrs/local': 'id'
}

/** Options that every call has. */
export const commonOptions: readonly string[] = ['timeout']

/** A list of names for each option of a call. */
export function optionsOf(name: string): readonly (readonly string[])[] {
  const text = Object.hasOwn(options, name) ? options[name] : undefined
  return (text ?? '').split(' ').flatMap((each) => (each === '' ? [] : [each.split(',')]))
}
