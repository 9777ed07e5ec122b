/** JSON of scores: Kubo has no such call, so only the manner is its own. */
import { peerKey } from '@shardswap/interface'
import type { Calibration, OwnAccount, OwnReceipt, OwnScore, PeerCounts, PeerScore } from '@shardswap/peer'
import type { NodeScores } from './node.ts'

/** JSON: how one peer has done. */
export interface ScoreShape {
  readonly Peer: string
  readonly Connected: boolean
  readonly Vetted: boolean
  /** 0 to 100. */
  readonly Score: number
  /** Its part of the primary picks, 0 to 1. */
  readonly Share: number
  /** How long it gets no wants yet, in milliseconds. */
  readonly ShutOutMs: number
  /** Connected time until its score is its own again after that, in milliseconds; left out where it is. */
  readonly ReturnLeftMs?: number
  /** Parts of 1; left out where nothing was observed. */
  readonly Success24h?: number
  readonly Success30d?: number
  readonly Uptime24h?: number
  readonly Uptime30d?: number
  /** Milliseconds. */
  readonly LatencyP50Ms?: number
  readonly LatencyP95Ms?: number
  readonly FailChance: number
  readonly InFlight: number
  /** Want-blocks sent to it as backups, and its credits, ever (P8, P9). */
  readonly Backups: number
  readonly Credits: number
  readonly Counts: PeerCounts
}

/** JSON of `peers`: how peers have done, and how good the forecasts were. */
export interface ScoresShape {
  readonly Peers: readonly ScoreShape[]
  readonly Known: number
  readonly Forecasts?: Calibration
}

/** JSON: how this node stands with a peer, as that peer signed it. */
export interface OwnScoreShape {
  readonly By: string
  readonly About: string
  /** Milliseconds since 1970, by the clock of `By`. */
  readonly AtMs: number
  readonly Score: ScoreShape | null
  readonly Account: OwnAccount | null
  readonly ReceiptsInAll: number
  /** Whether the period has others, which are gone or were not looked through. */
  readonly ReceiptsCut: boolean
  readonly ReceiptsFrom: number
  readonly Receipts: readonly OwnReceipt[]
  /** The signed envelope, in base64. */
  readonly Signed: string
}

/** The JSON of one peer's score. */
export function scoreShape(score: PeerScore): ScoreShape {
  return {
    Peer: score.peer,
    Connected: score.isConnected,
    Vetted: score.isVetted,
    Score: score.score,
    Share: score.share,
    ShutOutMs: score.shutOutMs,
    ...(score.returnLeftMs === 0 ? {} : { ReturnLeftMs: score.returnLeftMs }),
    ...(score.success24h === undefined ? {} : { Success24h: score.success24h }),
    ...(score.success30d === undefined ? {} : { Success30d: score.success30d }),
    ...(score.uptime24h === undefined ? {} : { Uptime24h: score.uptime24h }),
    ...(score.uptime30d === undefined ? {} : { Uptime30d: score.uptime30d }),
    ...(score.latencyP50Ms === undefined ? {} : { LatencyP50Ms: score.latencyP50Ms }),
    ...(score.latencyP95Ms === undefined ? {} : { LatencyP95Ms: score.latencyP95Ms }),
    FailChance: score.failChance,
    InFlight: score.inFlight,
    Backups: score.counts.backupTurns,
    Credits: score.counts.rewardable,
    Counts: score.counts
  }
}

function scoreOf(shape: ScoreShape): PeerScore {
  return {
    peer: peerKey(shape.Peer),
    isConnected: shape.Connected,
    isVetted: shape.Vetted,
    score: shape.Score,
    share: shape.Share,
    shutOutMs: shape.ShutOutMs,
    returnLeftMs: shape.ReturnLeftMs ?? 0,
    success24h: shape.Success24h,
    success30d: shape.Success30d,
    uptime24h: shape.Uptime24h,
    uptime30d: shape.Uptime30d,
    latencyP50Ms: shape.LatencyP50Ms,
    latencyP95Ms: shape.LatencyP95Ms,
    failChance: shape.FailChance,
    inFlight: shape.InFlight,
    counts: shape.Counts
  }
}

/** The JSON of `peers`. */
export function scoresShape({ peers, known, calibration }: NodeScores): ScoresShape {
  return { Peers: peers.map(scoreShape), Known: known, ...(calibration === undefined ? {} : { Forecasts: calibration }) }
}

/** Reads the JSON of `peers`. */
export function scoresOf(shape: ScoresShape): NodeScores {
  return { peers: shape.Peers.map(scoreOf), known: shape.Known, calibration: shape.Forecasts }
}

/** The JSON of how this node stands with a peer. */
export function ownScoreShape(own: OwnScore): OwnScoreShape {
  return {
    By: own.by,
    About: own.about,
    AtMs: own.atMs,
    Score: own.score === null ? null : scoreShape(own.score),
    Account: own.account,
    ReceiptsInAll: own.receiptsInAll,
    ReceiptsCut: own.receiptsCut,
    ReceiptsFrom: own.receiptsFrom,
    Receipts: own.receipts,
    Signed: Buffer.from(own.signed).toString('base64')
  }
}

/** Reads the JSON of how this node stands with a peer. */
export function ownScoreOf(shape: OwnScoreShape): OwnScore {
  return {
    by: shape.By,
    about: shape.About,
    atMs: shape.AtMs,
    score: shape.Score === null ? null : scoreOf(shape.Score),
    account: shape.Account,
    receiptsInAll: shape.ReceiptsInAll,
    receiptsCut: shape.ReceiptsCut,
    receiptsFrom: shape.ReceiptsFrom,
    receipts: shape.Receipts,
    signed: new Uint8Array(Buffer.from(shape.Signed, 'base64'))
  }
}
