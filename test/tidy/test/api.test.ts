import { faults, readReference } from '@shardswap-test/api'
import { describe, expect, it } from 'vitest'

describe('the API reference', () => {
  it('has a docstring for each export, and no link to nothing', async () => {
    const reference = await readReference()
    expect(reference.project.children?.length).toBeGreaterThan(10)
    expect(faults(reference)).toEqual([])
  }, 120_000)
})
