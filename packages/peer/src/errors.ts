import { ShardswapError } from '@shardswap/interface'

/** A peer did not tell how we stand with it: not connected, does not speak the protocol, did not answer, or signed what it should not. */
export class ScoreUnavailableError extends ShardswapError {
  static readonly code = 'ERR_SCORE_UNAVAILABLE'
  override readonly name = 'ScoreUnavailableError'
  override readonly code = ScoreUnavailableError.code
}
