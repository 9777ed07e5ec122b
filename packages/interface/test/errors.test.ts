import { expect, it } from 'vitest'
import { isNotFound, messageOf, NotFoundError } from '../src/errors.ts'

it('words whatever was thrown', () => {
  expect([new Error('no'), 'no', 1, undefined].map(messageOf)).toEqual(['no', 'no', '1', 'undefined'])
})

it('knows what is not there by the name, whoever throws it', () => {
  const another = Object.assign(new Error('gone'), { name: 'NotFoundError' })
  expect([new NotFoundError('gone'), another].map(isNotFound)).toEqual([true, true])
  expect([new Error('gone'), { name: 'NotFoundError' }, undefined].map(isNotFound)).toEqual([false, false, false])
})
