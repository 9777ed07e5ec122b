import { InvalidParametersError, peerKey } from '@shardswap/interface'
import type { AccountReport } from '@shardswap/peer'
import { expect, test } from 'vitest'
import { parseStakes, rewardsOf } from '../src/index.ts'

const alice = '12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU'
const bob = 'QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N'

test('stakes are read from lines and from JSON', () => {
  const expected = [
    [alice, 4000],
    [bob, 0.5]
  ]
  expect([...parseStakes(`# stakes\n\n${alice} 4000\r\n${bob}\t0.5 # little\n`)]).toEqual(expected)
  expect([...parseStakes(`\uFEFF${alice},4000\n${bob};0.5`)]).toEqual(expected)
  expect([...parseStakes(`{"${alice}": 4000, "${bob}": 0.5}`)]).toEqual(expected)
})

test.each([
  ['', 'no stake'],
  ['# nothing\n', 'no stake'],
  ['{}', 'no stake'],
  [`${alice} 1\n${bob}`, 'line 2: a peer id and an amount'],
  [`${alice} 1 2`, 'line 1: a peer id and an amount'],
  [`\n${alice} -1`, 'line 2: the stake of'],
  [`${alice} 1e999`, 'not below 0'],
  [`${alice} many`, 'not "many"'],
  ['peer 5', '"peer" is no peer id'],
  [`${alice} 1\n${alice} 2`, 'line 2: 12D3KooWCizaGVPEo9SQQrpEV7DdhV2W8336W2M3dtvahAwm8jaU is there twice'],
  ['{"a": 1}', 'its JSON: "a" is no peer id'],
  [`{"${alice}": "1"}`, 'not "1"'],
  [`{"${alice}": null}`, 'not null'],
  ['{', 'begins as JSON and is none'],
  ['[1]', 'a peer id and an amount']
])('a bad table is told what is wrong with it: %j', (text, why) => {
  expect(() => parseStakes(text)).toThrow(InvalidParametersError)
  expect(() => parseStakes(text)).toThrow(why)
})

test('[P11][P13] rewards follow credits among those with a stake', async () => {
  const counters = { attempted: 0, successful: 0, primaryTurns: 0, backupTurns: 0, rescued: 0 }
  const rows = [
    { peer: peerKey(alice), rewardable: 30, ...counters },
    { peer: peerKey(bob), rewardable: 60, ...counters },
    { peer: peerKey('12D3KooWNobody'), rewardable: 10, ...counters }
  ]
  const report = { rows } as unknown as AccountReport
  const shares = async (...rest: [Parameters<typeof rewardsOf>[1]?, number?]): Promise<number[]> => {
    return (await rewardsOf(report, ...rest)).map(({ share }) => share)
  }
  expect(await shares()).toEqual([0.3, 0.6, 0.1])
  const stakes = parseStakes(`${alice} 4000\n${bob} 100`)
  expect(await shares(stakes)).toEqual([1 / 3, 2 / 3, 0])
  expect(await shares(stakes, 1000)).toEqual([1, 0, 0])
})
