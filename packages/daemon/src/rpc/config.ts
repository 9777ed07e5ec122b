/** `config`, `config/show`, `config/replace`: Kubo's words, with keys of our own. */
import { InvalidParametersError, messageOf, readWhole, TooLargeError } from '@shardswap/interface'
import { type ConfigJson, configValueOf } from '@shardswap/repo'
import { configShape } from '../config-shapes.ts'
import { configBytesMax } from '../limits.ts'
import type { Call, Handlers } from './call.ts'
import type { Query } from './query.ts'
import type { Reply } from './reply.ts'
import { uploadedFiles } from './upload.ts'

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new InvalidParametersError(`what was given is not JSON (${messageOf(cause)})`, { cause })
  }
}

/** The value of a call that changes a key: JSON or a boolean where the caller says so, else as a word of a command line. */
function valueOf(query: Query, key: string, text: string): unknown {
  if (query.flag('json') === true) return parsed(text)
  if (query.flag('bool') === true) return text === 'true'
  return configValueOf(key, [text])
}

async function config({ node, query }: Call): Promise<Reply> {
  const [key, value, ...others] = query.args()
  if (others.length > 0) throw new InvalidParametersError(`expected 1 or 2 arguments, got ${2 + others.length}`)
  if (value !== undefined) await node.config.set(key, valueOf(query, key, value))
  return { kind: 'json', value: configShape(key, await node.config.get(key)) }
}

async function replace({ node, request, signal }: Call): Promise<Reply> {
  for await (const content of uploadedFiles(request, signal)) {
    const bytes = await readWhole(content, (length) => {
      if (length > configBytesMax) throw new TooLargeError(`a config is of ${configBytesMax} bytes at most`)
    })
    await node.config.replace(parsed(new TextDecoder().decode(bytes)) as ConfigJson)
  }
  return { kind: 'empty' }
}

export const configHandlers: Handlers = {
  config,
  'config/show': async ({ node }) => ({ kind: 'json', value: await node.config.show() }),
  'config/replace': replace
}
