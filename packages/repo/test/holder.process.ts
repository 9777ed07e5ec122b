/** A process that opens the repo named on its command line, says so, and holds it until it is ended. */
import { openRepo } from '../src/index.ts'

const path = process.argv[2]
if (path === undefined) throw new Error('usage: holder REPO')
const repo = await openRepo(path, { create: true })
process.stdout.write('open\n')
process.stdin.resume()
process.stdin.once('end', () => {
  void repo.close()
})
