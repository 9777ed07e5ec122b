import { faults, readReference } from '@shardswap-test/api'
import { describe, expect, it } from 'vitest'

describe('the API reference', () => {
  it('has a docstring for each export, and no link to nothing', async () => {
    const reference = await readReference()
    const names = (reference.project.children ?? []).map(({ name }) => name)
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !/^@shardswap\/[a-z]+$|^shardswap$/.test(name))).toEqual([])
    expect(faults(reference)).toEqual([])
  }, 120_000)
})
