import { ShardswapError } from '@shardswap/interface'

/** A pin is not there, or is another one than was asked for. */
export class PinError extends ShardswapError {
  static readonly code = 'ERR_PIN'
  override readonly name = 'PinError'
  override readonly code = PinError.code
}
