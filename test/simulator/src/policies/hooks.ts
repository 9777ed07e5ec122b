import type { WantEntry } from '@shardswap/broker'
import type { BlockKey } from '@shardswap/interface'
import type { Ask, Peer, Session, Want } from './state.ts'

/** What a policy is told and may say: whatever it does not care for does nothing. */
export abstract class Hooks {
  /** Asks what is to be asked, after events. */
  protected abstract place(nowMs: number): void
  protected sessionOpened(_session: Session, _nowMs: number): void {}
  /** Its wants have left it. */
  protected sessionClosed(_session: Session, _nowMs: number): void {}
  protected wantAdded(_want: Want, _session: Session, _nowMs: number): void {}
  /** No longer wanted by this session; by nobody, where `want.sessions` is empty. */
  protected wantLeft(_want: Want, _session: Session, _nowMs: number): void {}
  protected peerConnected(_peer: Peer, _nowMs: number): void {}
  /** Of the asks that were lost nothing stands any more. */
  protected peerLeft(_peer: Peer, _lost: readonly Ask[], _nowMs: number): void {}
  protected providerKnown(_session: Session, _peer: Peer, _nowMs: number): void {}
  protected haveReceived(_ask: Ask, _nowMs: number): void {}
  protected dontHaveReceived(_ask: Ask, _nowMs: number): void {}
  /** The ask had its time; it is `late`, and stands there until it is withdrawn. */
  protected askTimedOut(_ask: Ask, _nowMs: number): void {}
  /** The block came from this peer; `wantLeft` follows. */
  protected blockReceived(_want: Want, _peer: Peer, _bytes: number, _nowMs: number): void {}
  protected duplicateReceived(_peer: Peer, _key: BlockKey, _nowMs: number): void {}
  /** The first answer of any kind, so long after the ask was sent. */
  protected answered(_ask: Ask, _latencyMs: number): void {}
  protected askEnded(_ask: Ask): void {}
  protected messageSent(_peer: Peer, _asks: readonly Ask[], _nowMs: number): void {}
  /** Until when lines to this peer are held back to go in one message. */
  protected heldUntilMs(_peer: Peer, nowMs: number): number {
    return nowMs
  }
  /** Those of the lines that make the next message; the others wait for the one after it. */
  protected nextMessage(_peer: Peer, lines: readonly WantEntry[], _nowMs: number): readonly WantEntry[] {
    return lines
  }
  /** Whether the remote is to be told that this ask is over. */
  protected cancels(ask: Ask, deliveredBy: Peer | undefined): boolean {
    return ask.peer !== deliveredBy && ask.phase !== 'have'
  }
  /** What the policy itself keeps per want, session or ask. */
  protected recordsKept(): number {
    return 0
  }
}
