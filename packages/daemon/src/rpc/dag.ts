/** `dag/import` and `dag/export`: CAR archives. */
import { importShapes } from '../shapes.ts'
import { type Call, fetchOptions, type Handlers } from './call.ts'
import { uploadedFiles } from './upload.ts'

async function* importAll({ node, query, request, signal }: Call): AsyncGenerator<object> {
  const stats = query.flag('stats') ?? false
  for await (const content of uploadedFiles(request, signal)) {
    const result = await node.dagImport(content, { signal })
    for (const line of importShapes(result)) if (stats || line.Root !== undefined) yield line
  }
}

export const dagHandlers: Handlers = {
  'dag/import': (call) => ({ kind: 'lines', lines: importAll(call) }),
  'dag/export': (call) => {
    const bytes = call.node.dagExport(call.query.arg(), fetchOptions(call))
    return { kind: 'bytes', bytes, contentType: 'application/vnd.ipld.car' }
  }
}
