import { ShardswapError } from '@shardswap/interface'

/** A peer did not tell how we stand with it: not connected, does not speak the protocol, did not answer, or signed what it should not. */
export class ScoreUnavailableError extends ShardswapError {
  static readonly code = 'ERR_SCORE_UNAVAILABLE'
  override readonly name = 'ScoreUnavailableError'
  override readonly code = ScoreUnavailableError.code
}

/** A router did not answer, or not as one does. */
export class RouterError extends ShardswapError {
  static readonly code = 'ERR_ROUTER'
  override readonly name = 'RouterError'
  override readonly code = RouterError.code
}

/** There is no router that could be told or asked. */
export class NoRouterError extends ShardswapError {
  static readonly code = 'ERR_NO_ROUTER'
  override readonly name = 'NoRouterError'
  override readonly code = NoRouterError.code
}

/** A `swarm.key` is not in the form that it must have; the message tells the form. */
export class SwarmKeyError extends ShardswapError {
  static readonly code = 'ERR_SWARM_KEY'
  override readonly name = 'SwarmKeyError'
  override readonly code = SwarmKeyError.code
}

/** The peer at the other end is not on the private network of ours: it has another `swarm.key`, or none. */
export class PrivateNetworkError extends ShardswapError {
  static readonly code = 'ERR_PRIVATE_NETWORK'
  override readonly name = 'PrivateNetworkError'
  override readonly code = PrivateNetworkError.code
}
