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

  /** The present one. Rejects where it could not be bound; the next call tries again, with another. */
  async current(): Promise<TestIdentity> {
    const nowMs = this.#ports.nowMs()
    if (this.#current === undefined || this.#term.isOver(nowMs)) {
      this.#term.begin(nowMs)
      this.#current = this.#make()
    }
    const current = this.#current
    try {
      return await current
    } catch (error) {
      if (this.#current === current) this.#current = undefined
      throw error
    }
  }

  async #make(): Promise<TestIdentity> {
    const privateKey = await generateKeyPair('Ed25519')
    const identity = await this.#ports.introduce(privateKey)
    this.#made++
    this.#name = peerIdFromPrivateKey(privateKey).toString()
    return identity
  }
}
