/** Several clients of one provider in a process of their own, that speak Bitswap by hand: the same for every kind of provider. */
export interface Crowd {
  /** So many clients connect, each under an identity of its own, and open their streams. */
  connect(address: string, clients: number): Promise<void>
  /** Each client wants all of these at once. */
  crave(cids: readonly string[]): Promise<void>
  /** Blocks that came so far, of each client. */
  blocks(): Promise<number[]>
  /** How long it takes until a client that asks for one block has it, in milliseconds; undefined where it takes longer than so many. */
  want(client: number, cid: string, withinMs: number): Promise<number | undefined>
}
