/** Preloaded into a process, prints the name of each package that it loaded when it ends. */
import { registerHooks } from 'node:module'

const names = new Set<string>()

registerHooks({
  load: (url, context, nextLoad) => {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]
    if (name !== undefined) names.add(name)
    return nextLoad(url, context)
  }
})

process.on('exit', () => {
  for (const name of names) process.stdout.write(`loaded ${name}\n`)
})
