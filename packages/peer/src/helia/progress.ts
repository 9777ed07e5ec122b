import { peerIdFromString } from '@libp2p/peer-id'
import { CustomProgressEvent, type ProgressEvent } from 'progress-events'
import type { FetchProgress } from '../fetch/progress.ts'
import type { HeliaBrokerProgress, HeliaProgress } from './types.ts'

/** Tells a caller of Helia's our events and, where there is one that says the same, Helia's. */
export function heliaProgress(broker: string, onProgress: (event: HeliaProgress) => void): (event: FetchProgress) => void {
  return (event) => {
    onProgress(event)
    const theirs = brokerProgress(broker, event)
    if (theirs !== undefined) onProgress(theirs)
  }
}

function brokerProgress(broker: string, event: FetchProgress): HeliaBrokerProgress | undefined {
  switch (event.type) {
    case 'shardswap:connect':
      return brokerEvent(broker, 'connect', event.detail)
    case 'shardswap:connected':
      return brokerEvent(broker, 'connected', event.detail, { address: event.detail.address })
    case 'shardswap:want':
      return event.detail.wantType === 'block' ? brokerEvent(broker, 'request-block', event.detail) : undefined
    case 'shardswap:block':
      return brokerEvent(broker, 'receive-block', event.detail)
    case 'shardswap:find-providers':
    case 'shardswap:provider':
    case 'shardswap:dont-have':
    case 'shardswap:timeout':
      return undefined
  }
}

function brokerEvent(
  broker: string,
  type: HeliaBrokerProgress['detail']['type'],
  { cid, peer }: { cid: HeliaBrokerProgress['detail']['cid']; peer: string },
  more: object = {}
): HeliaBrokerProgress {
  const detail = { broker, type, provider: peerIdFromString(peer).toCID(), cid, ...more }
  return new CustomProgressEvent<unknown>(`helia:block-broker:${type}`, detail) as ProgressEvent as HeliaBrokerProgress
}
