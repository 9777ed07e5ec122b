import { InvalidParametersError } from '@shardswap/interface'

const secondMs = 1000
const minuteMs = 60 * secondMs
const dayMs = 24 * 60 * minuteMs

/** Limits of how bindings are made, kept and told: names, units, defaults. Each has a line in docs/limits.md. */
export interface RegistryShellLimits {
  /** How long a binding holds that is made without a term; a node that is its own owner renews it halfway. */
  readonly bindingLifetimeMs: number
  /** How long a server's claim holds that is made without a term. */
  readonly claimLifetimeMs: number
  /** How long a delegation holds that is made without a term. */
  readonly delegationLifetimeMs: number
  /** By how much others' clocks may be behind ours: no record is made for longer than what is allowed, less this. */
  readonly clockSkewMs: number
  /** How often expired records are let go of, and own bindings looked at. */
  readonly sweepMs: number
  /** How often records are told to somebody, on average; jittered by half. */
  readonly tellMs: number
  /** Peers that are told something at once. */
  readonly tellPeersMax: number
  /** Records in one frame. */
  readonly frameRecordsMax: number
  /** The longest frame, in bytes. */
  readonly frameBytesMax: number
  /** How long one exchange may take: opening the stream, the frame, its end. */
  readonly exchangeTimeoutMs: number
  /** Frames that a peer may send at once … */
  readonly framesBurst: number
  /** … and after how long one more. */
  readonly frameRefillMs: number
  /** The same over all peers. */
  readonly allFramesBurst: number
  readonly allFrameRefillMs: number
  /** Frames that are being read or taken at once, over all peers; more are refused. */
  readonly framesReadMax: number
  /** Records whose signatures are looked at for one peer at once … */
  readonly checksBurst: number
  /** … and after how long one more. */
  readonly checkRefillMs: number
  /** The same over all peers. */
  readonly allChecksBurst: number
  readonly allCheckRefillMs: number
  /** For how long a client is told that we are busy. */
  readonly busyMs: number
  /** For how long a server that says so is believed to be busy, at most. */
  readonly busyMaxMs: number
  /** How long `connect` waits until the other side knows for whom we ask. */
  readonly knownTimeoutMs: number
  /** How long a refusal waits for its client to have been told. */
  readonly tellBusyTimeoutMs: number
  /** How often what is known is written to the datastore, where it has changed. */
  readonly saveEveryMs: number
}

/** The defaults; the reasons stand in docs/limits.md. */
export const defaultRegistryShellLimits: RegistryShellLimits = {
  bindingLifetimeMs: 7 * dayMs,
  claimLifetimeMs: 30 * dayMs,
  delegationLifetimeMs: 30 * dayMs,
  clockSkewMs: 60 * minuteMs,
  sweepMs: minuteMs,
  tellMs: 30 * secondMs,
  tellPeersMax: 3,
  frameRecordsMax: 32,
  frameBytesMax: 96 * 1024,
  exchangeTimeoutMs: 10 * secondMs,
  framesBurst: 16,
  frameRefillMs: 2 * secondMs,
  allFramesBurst: 1024,
  allFrameRefillMs: 20,
  framesReadMax: 256,
  checksBurst: 128,
  checkRefillMs: 500,
  allChecksBurst: 1024,
  allCheckRefillMs: 10,
  busyMs: 5 * secondMs,
  busyMaxMs: 30 * secondMs,
  knownTimeoutMs: secondMs,
  tellBusyTimeoutMs: secondMs,
  saveEveryMs: minuteMs
}

/** `limits` over the defaults. Errors: InvalidParametersError where nothing could be made or told with them. */
export function verifyRegistryShellLimits(limits: Partial<RegistryShellLimits> = {}): RegistryShellLimits {
  const all = { ...defaultRegistryShellLimits, ...limits }
  for (const [name, value] of Object.entries(all)) {
    if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) {
      throw new InvalidParametersError(`${name} must be a finite number above 0, not ${String(value)}`)
    }
  }
  return all
}
