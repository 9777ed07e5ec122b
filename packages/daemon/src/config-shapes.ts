/** The shape of `config`, Kubo's: one key and its value, null where it has none. */
export interface ConfigShape {
  readonly Key: string
  readonly Value: unknown
}

/** A key and its value. */
export function configShape(key: string, value: unknown): ConfigShape {
  return { Key: key, Value: value ?? null }
}
