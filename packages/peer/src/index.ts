export * from './types.ts'
export * from './limits.ts'
