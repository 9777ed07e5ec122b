/** What runs a node in this process; loaded at the first call, for a command that talks to a daemon needs none of it. */
import type { Daemon, DaemonInit } from './daemon.ts'
import type { LocalNode, LocalNodeInit } from './local/local-node.ts'

/** A node on a repo that is open in this process, and is closed where this fails. */
export async function openLocalNode(init: LocalNodeInit): Promise<LocalNode> {
  const local = await import('./local/local-node.ts')
  const { pinFromBefore } = await import('./pins/upgrade.ts')
  await pinFromBefore(init.repo, init.onWarning)
  return new local.LocalNode(init)
}

/**
 * Starts a node on a repo and serves it. Nothing stays open where it cannot start.
 * Errors: ListenError names the address that is taken.
 */
export async function startDaemon(init: DaemonInit): Promise<Daemon> {
  const daemon = await import('./daemon.ts')
  return await daemon.startDaemon(init)
}

/** Refuses what is no private key, as `privateKeyOf` reads it. Errors: InvalidParametersError. */
export async function checkPrivateKey(bytes: Uint8Array): Promise<void> {
  const keys = await import('./keys.ts')
  keys.privateKeyOf(bytes)
}
