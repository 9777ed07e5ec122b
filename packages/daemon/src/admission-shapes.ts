/** JSON of admission and registration: Kubo has no such calls, so only the manner is its own. */
import type { AdmissionReport, AdmittedPeer, BindingStat, Decision, OwnerView, OwnRegistration, TestsReport } from '@shardswap/peer'
import type { NodeAdmission } from './node.ts'

/** JSON: what would become of a request now, and why. */
export interface DecisionShape {
  readonly Decision: Decision['action']
  readonly Reason: Decision['reason']
}

/** JSON: an owner, and how its requests stand. */
export interface OwnerShape extends DecisionShape {
  readonly Owner: string
  /** Peers of its that are connected. */
  readonly Peers: number
  /** Its servers that are registered, and those of them that were verified in the last 24 hours (S_connected). */
  readonly Registered: number
  readonly Servers: number
  /** Availability over 24 hours and 30 days, 0 to 1. */
  readonly AShort: number
  readonly ALong: number
  /** Tests in 30 days. */
  readonly TestsSent: number
  readonly TestsReceived: number
  /** Requests of its that were served in 24 hours (R_served). */
  readonly Served: number
  readonly Weight: number
  /** In open requests. */
  readonly Score: number
  readonly Open: number
  readonly TurnedAway: number
}

/** JSON: a peer, and how its requests stand. */
export interface AdmittedPeerShape extends DecisionShape {
  readonly Peer: string
  readonly Client?: string
  readonly Owner?: string
}

/** JSON: a binding of a client key to a server. */
export interface BindingShape {
  readonly Kind: BindingStat['kind']
  readonly Client: string
  readonly Server?: string
  readonly Owner: string
  /** Milliseconds since 1970. */
  readonly ExpiresMs: number
  readonly Sequence: number
  readonly Renewed: boolean
}

/** JSON: who this node is to others. */
export interface OwnRegistrationShape {
  readonly Peer: string
  readonly Client: string
  readonly DelegationExpiresMs?: number
  readonly Bindings: readonly BindingShape[]
}

/** JSON: how the tests of other servers go. */
export interface TestsShape {
  readonly State: TestsReport['state']
  /** Servers of which is known what they have. */
  readonly Servers: number
  readonly Visits: number
  readonly Outcomes: TestsReport['outcomes']
  readonly Identities: number
  readonly Identity?: string
}

/** JSON of `admission`. */
export interface AdmissionShape {
  /** False where no peer runs: then all is as the repo remembers it. */
  readonly Running: boolean
  readonly Mode: AdmissionReport['mode']
  /** Cap_max. */
  readonly Cap: number
  readonly Open: number
  /** Requests served in 24 hours (R_total). */
  readonly Served: number
  /** Registered servers that were verified in the last 24 hours (S_total). */
  readonly Servers: number
  readonly Free: DecisionShape & { readonly Score: number; readonly Open: number; readonly TurnedAway: number }
  readonly Owners: readonly OwnerShape[]
  readonly OwnersKnown: number
  readonly Peers: readonly AdmittedPeerShape[]
  readonly PeersKnown: number
  readonly Decisions: AdmissionReport['decisions']
  readonly Registry: {
    readonly Records: number
    readonly Servers: number
    readonly Outcomes: AdmissionReport['registry']['outcomes']
    readonly Refused: AdmissionReport['registry']['refused']
    readonly Speakers: number
    readonly Frames: number
    readonly Reading: number
  }
  readonly Own: OwnRegistrationShape
  /** Left out where no peer runs. */
  readonly Tests?: TestsShape
}

/** The JSON of `admission`. */
export function admissionShape({ isRunning, report, ownersKnown, peersKnown }: NodeAdmission): AdmissionShape {
  const { mode, openRequestsMax, open, served, servers, free, owners, peers, decisions, registry, own, tests } = report
  return {
    Running: isRunning,
    Mode: mode,
    Cap: openRequestsMax,
    Open: open,
    Served: served,
    Servers: servers,
    Free: { Score: free.score, Open: free.open, TurnedAway: free.turnedAway, ...decisionShape(free.decision) },
    Owners: owners.map(ownerShape),
    OwnersKnown: ownersKnown,
    Peers: peers.map(peerShape),
    PeersKnown: peersKnown,
    Decisions: decisions,
    Registry: {
      Records: registry.records,
      Servers: registry.servers,
      Outcomes: registry.outcomes,
      Refused: registry.refused,
      Speakers: registry.speakers,
      Frames: registry.frames,
      Reading: registry.reading
    },
    Own: ownRegistrationShape(own),
    ...(tests === undefined ? {} : { Tests: testsShape(tests) })
  }
}

/** Reads the JSON of `admission`. */
export function admissionOf(shape: AdmissionShape): NodeAdmission {
  const { Free, Registry, Tests } = shape
  const report: AdmissionReport = {
    mode: shape.Mode,
    openRequestsMax: shape.Cap,
    open: shape.Open,
    served: shape.Served,
    servers: shape.Servers,
    free: { score: Free.Score, open: Free.Open, turnedAway: Free.TurnedAway, decision: decisionOf(Free) },
    owners: shape.Owners.map(ownerOf),
    peers: shape.Peers.map(peerOf),
    decisions: shape.Decisions,
    registry: {
      records: Registry.Records,
      servers: Registry.Servers,
      outcomes: Registry.Outcomes,
      refused: Registry.Refused,
      speakers: Registry.Speakers,
      frames: Registry.Frames,
      reading: Registry.Reading
    },
    own: ownRegistrationOf(shape.Own),
    ...(Tests === undefined ? {} : { tests: testsOf(Tests) })
  }
  return { isRunning: shape.Running, report, ownersKnown: shape.OwnersKnown, peersKnown: shape.PeersKnown }
}

function testsShape({ state, servers, visits, outcomes, identities, identity }: TestsReport): TestsShape {
  const now = identity === undefined ? {} : { Identity: identity }
  return { State: state, Servers: servers, Visits: visits, Outcomes: outcomes, Identities: identities, ...now }
}

function testsOf({ State, Servers, Visits, Outcomes, Identities, Identity }: TestsShape): TestsReport {
  const now = Identity === undefined ? {} : { identity: Identity }
  return { state: State, servers: Servers, visits: Visits, outcomes: Outcomes, identities: Identities, ...now }
}

function decisionShape({ action, reason }: Decision): DecisionShape {
  return { Decision: action, Reason: reason }
}

function decisionOf({ Decision: action, Reason: reason }: DecisionShape): Decision {
  return { action, reason }
}

function ownerShape(view: OwnerView): OwnerShape {
  return {
    Owner: view.owner,
    Peers: view.peers,
    Registered: view.registered,
    Servers: view.servers,
    AShort: view.aShort,
    ALong: view.aLong,
    TestsSent: view.tests.sent,
    TestsReceived: view.tests.received,
    Served: view.served,
    Weight: view.weight,
    Score: view.score,
    Open: view.open,
    TurnedAway: view.turnedAway,
    ...decisionShape(view.decision)
  }
}

function ownerOf(shape: OwnerShape): OwnerView {
  return {
    owner: shape.Owner as OwnerView['owner'],
    peers: shape.Peers,
    registered: shape.Registered,
    servers: shape.Servers,
    aShort: shape.AShort,
    aLong: shape.ALong,
    tests: { sent: shape.TestsSent, received: shape.TestsReceived },
    served: shape.Served,
    weight: shape.Weight,
    score: shape.Score,
    open: shape.Open,
    turnedAway: shape.TurnedAway,
    decision: decisionOf(shape)
  }
}

function peerShape({ peer, client, owner, decision }: AdmittedPeer): AdmittedPeerShape {
  return {
    Peer: peer,
    ...(client === undefined ? {} : { Client: client }),
    ...(owner === undefined ? {} : { Owner: owner }),
    ...decisionShape(decision)
  }
}

function peerOf(shape: AdmittedPeerShape): AdmittedPeer {
  return {
    peer: shape.Peer,
    ...(shape.Client === undefined ? {} : { client: shape.Client }),
    ...(shape.Owner === undefined ? {} : { owner: shape.Owner }),
    decision: decisionOf(shape)
  }
}

/** The JSON of a binding. */
export function bindingShape({ kind, client, server, owner, expiresMs, sequence, isRenewed }: BindingStat): BindingShape {
  return {
    Kind: kind,
    Client: client,
    ...(server === undefined ? {} : { Server: server }),
    Owner: owner,
    ExpiresMs: expiresMs,
    Sequence: sequence,
    Renewed: isRenewed
  }
}

/** Reads the JSON of a binding. */
export function bindingOf(shape: BindingShape): BindingStat {
  return {
    kind: shape.Kind,
    client: shape.Client,
    ...(shape.Server === undefined ? {} : { server: shape.Server }),
    owner: shape.Owner,
    expiresMs: shape.ExpiresMs,
    sequence: shape.Sequence,
    isRenewed: shape.Renewed
  }
}

/** The JSON of who this node is to others. */
export function ownRegistrationShape({ peer, client, delegationExpiresMs, bindings }: OwnRegistration): OwnRegistrationShape {
  return {
    Peer: peer,
    Client: client,
    ...(delegationExpiresMs === undefined ? {} : { DelegationExpiresMs: delegationExpiresMs }),
    Bindings: bindings.map(bindingShape)
  }
}

/** Reads the JSON of who this node is to others. */
export function ownRegistrationOf(shape: OwnRegistrationShape): OwnRegistration {
  return {
    peer: shape.Peer,
    client: shape.Client,
    ...(shape.DelegationExpiresMs === undefined ? {} : { delegationExpiresMs: shape.DelegationExpiresMs }),
    bindings: shape.Bindings.map(bindingOf)
  }
}
