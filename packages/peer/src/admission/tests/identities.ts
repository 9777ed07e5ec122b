import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import type { Random } from '@shardswap/interface'
import { TestIdentityTerm } from '@shardswap/server'
import type { TestIdentity, TestPorts } from './types.ts'

/** [I5] Who tests are made by: a new identity now and then, made when the first visit needs it. */
export class TestIdentities {
  readonly #ports: TestPorts
  readonly #term: TestIdentityTerm
  #current: Promise<TestIdentity> | undefined
  #name: string | undefined
  #made = 0

  constructor(ports: TestPorts, random: Random) {
    this.#ports = ports
    this.#term = new TestIdentityTerm(ports.limits, random)
  }

  /** Identities so far. */
  get made(): number {
    return this.#made
  }

  /** The PeerId of the present one. */
  get name(): string | undefined {
    return this.#name
  }

  /** The present one, or another where that is due. Rejects where it could not be bound; the next call tries again. */
  async current(): Promise<TestIdentity> {
    const nowMs = this.#ports.nowMs()
    const before = this.#term.isOver(nowMs) ? undefined : this.#current
    if (before !== undefined && (await isBound(before))) return await before
    // Somebody else may have asked for one meanwhile.
    if (this.#current === undefined || this.#current === before || this.#term.isOver(nowMs)) {
      this.#term.begin(nowMs)
      this.#current = this.#make()
    }
    return await this.#current
  }

  async #make(): Promise<TestIdentity> {
    const privateKey = await generateKeyPair('Ed25519')
    const identity = await this.#ports.introduce(privateKey)
    this.#made++
    this.#name = peerIdFromPrivateKey(privateKey).toString()
    return identity
  }
}

async function isBound(identity: Promise<TestIdentity>): Promise<boolean> {
  return await identity.then(
    (made) => made.isBound(),
    () => false
  )
}
