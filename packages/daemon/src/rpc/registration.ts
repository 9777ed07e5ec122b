/** `shardswap/admission`, `shardswap/register` with what belongs to it, `shardswap/unregister`. */
import { InvalidParametersError, readWhole, TooLargeError } from '@shardswap/interface'
import { admissionShape, bindingShape, ownRegistrationShape } from '../admission-shapes.ts'
import { keyFileBytesMax } from '../limits.ts'
import type { Call, Handlers } from './call.ts'
import type { Reply } from './reply.ts'
import { uploadParts } from './upload.ts'

/** The files that came with a call, by the names of their fields. None has to come. */
async function filesIn({ request, signal }: Call, known: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  if (request.headers['content-type'] === undefined) return files
  for await (const { field, content } of uploadParts(request, signal)) {
    if (!known.includes(field))
      throw new InvalidParametersError(`the call takes files in the fields ${known.join(', ')}, not in "${field}"`)
    if (files.has(field)) throw new InvalidParametersError(`the field "${field}" is there twice`)
    files.set(field, await readWhole(content, (bytes) => checkFileSize(field, bytes)))
  }
  return files
}

function checkFileSize(field: string, bytes: number): void {
  if (bytes > keyFileBytesMax) throw new TooLargeError(`the file in "${field}" is more than ${keyFileBytesMax} bytes`)
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
}

async function admission({ node }: Call): Promise<Reply> {
  return { kind: 'json', value: admissionShape(await node.admission()) }
}

async function register(call: Call): Promise<Reply> {
  const files = await filesIn(call, ['owner-key', 'client-key', 'server-claim'])
  const binding = await call.node.register({
    ownerKey: files.get('owner-key'),
    clientKey: files.get('client-key'),
    serverClaim: textOf(files.get('server-claim')),
    lifetimeMs: call.query.count('lifetime-ms')
  })
  return { kind: 'json', value: bindingShape(binding) }
}

async function unregister(call: Call): Promise<Reply> {
  const files = await filesIn(call, ['owner-key'])
  const revoked = await call.node.unregister({ ownerKey: files.get('owner-key'), client: call.query.given('client') })
  return { kind: 'json', value: { Revoked: revoked.map(bindingShape) } }
}

async function claim({ node, query }: Call): Promise<Reply> {
  return { kind: 'json', value: { Claim: await node.serverClaim(query.arg(), { lifetimeMs: query.count('lifetime-ms') }) } }
}

async function delegate(call: Call): Promise<Reply> {
  const { node, query } = call
  const files = await filesIn(call, ['client-key'])
  const options = { clientKey: files.get('client-key'), lifetimeMs: query.count('lifetime-ms') }
  return { kind: 'json', value: { Delegation: await node.delegate(query.arg(), options) } }
}

async function use(call: Call): Promise<Reply> {
  const files = await filesIn(call, ['delegation'])
  return { kind: 'json', value: ownRegistrationShape(await call.node.useDelegation(textOf(files.get('delegation')))) }
}

export const registrationHandlers: Handlers = {
  'shardswap/admission': admission,
  'shardswap/register': register,
  'shardswap/register/claim': claim,
  'shardswap/register/delegate': delegate,
  'shardswap/register/use': use,
  'shardswap/unregister': unregister
}
