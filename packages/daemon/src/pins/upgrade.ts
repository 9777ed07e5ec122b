/** What becomes of a repo from before there were pins. */
import { messageOf } from '@shardswap/interface'
import type { Repo } from '@shardswap/repo'
import { upgradePinsMax } from '../limits.ts'
import { type Pin, PinStore } from './pin-store.ts'

/** The layout under which pins began to say what stays. */
const pinnedSinceVersion = 2

/** The name of the pins that are made here. */
const pinName = 'from before pins'

/**
 * Under the first layout nothing was ever removed, so nothing was pinned, and the first collection would take all of it.
 * Each block gets a direct pin instead: which of them are roots is not known, as the store knows blocks by their hashes.
 * Where it is cut off it begins again with the next start. Closes the repo where it fails.
 */
export async function pinFromBefore(repo: Repo, onWarning: (message: string) => void = () => undefined): Promise<void> {
  if (repo.version >= pinnedSinceVersion) return
  try {
    const pins = new PinStore(repo)
    const pinned = (await knowsPins(pins)) ? 0 : await pinAll(repo, pins)
    await repo.raiseVersion()
    if (pinned > 0) onWarning(whatWasDone(pinned))
  } catch (error) {
    await repo.close()
    throw new Error(`the repo at ${repo.path} could not be brought to version ${pinnedSinceVersion}: ${messageOf(error)}`, { cause: error })
  }
}

/** Whether somebody has pinned here already: then the repo knows of pins, whatever its version says. */
async function knowsPins(pins: PinStore): Promise<boolean> {
  for await (const { name } of pins.all()) if (name !== pinName) return true
  return false
}

async function pinAll(repo: Repo, pins: PinStore): Promise<number> {
  let pinned = 0
  let put: Pin[] = []
  const write = async (): Promise<void> => {
    const batch = put
    put = []
    await pins.change(async () => ({ put: batch, answer: undefined }))
    pinned += batch.length
  }
  for await (const { cid } of repo.blocks.entries()) {
    put.push({ cid, isRecursive: false, name: pinName })
    if (put.length >= upgradePinsMax) await write()
  }
  if (put.length > 0) await write()
  return pinned
}

function whatWasDone(pinned: number): string {
  return (
    `this repo is from before there were pins, when nothing was ever removed, so ${pinned === 1 ? 'its block' : `each of its ${pinned} blocks`} ` +
    `got a pin, named "${pinName}". Pin the roots of what is to stay, then take these pins away: ` +
    `shardswap pin ls --type direct --name "${pinName}" -q | xargs shardswap pin rm`
  )
}
