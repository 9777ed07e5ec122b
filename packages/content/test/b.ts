import { add, cat, exportCar, importCar } from '../src/index.ts'
import { MemoryBlocks, collect } from './setup.ts'
const data = new Uint8Array(256 * 1024 * 1024)
for (let i = 0; i < data.length; i += 4096) data[i] = i / 4096
for (const o of [{ cidVersion: 1 }, { cidVersion: 0 }] as const) {
  for (let k = 0; k < 3; k++) {
    const b = new MemoryBlocks()
    let t = performance.now()
    const [r] = await collect(add([{ path: 'a', content: data }], b, o))
    const ta = performance.now() - t
    t = performance.now()
    let n = 0
    for await (const c of cat(b, r!.cid.toString())) n += c.length
    const tc = performance.now() - t
    t = performance.now()
    let m = 0
    const parts = []
    for await (const c of exportCar(b, r!.cid)) {
      m += c.length
      parts.push(c)
    }
    const te = performance.now() - t
    t = performance.now()
    await importCar(parts, new MemoryBlocks())
    const ti = performance.now() - t
    console.log(
      o,
      'add',
      ((256 / ta) * 1e3) | 0,
      'cat',
      ((256 / tc) * 1e3) | 0,
      'export',
      ((256 / te) * 1e3) | 0,
      'import',
      ((256 / ti) * 1e3) | 0,
      'MiB/s',
      n === data.length
    )
  }
}
function* numbered(count: number) {
  for (let i = 0; i < count; i++) yield { path: `dir/file-${i}.txt`, content: new TextEncoder().encode(String(i)) }
}
for (let k = 0; k < 2; k++) {
  const t = performance.now()
  await collect(add(numbered(20000), new MemoryBlocks()))
  console.log('20000 files', performance.now() - t, 'ms')
}
{
  const small = data.subarray(0, 20 << 20)
  const b = new MemoryBlocks()
  let t = performance.now()
  const [r] = await collect(add([{ path: 'a', content: small }], b, { chunker: 'size-1024', cidVersion: 1 }))
  console.log('add 1KiB chunks 20MiB', performance.now() - t)
  t = performance.now()
  let n = 0
  for await (const c of cat(b, r!.cid.toString())) n += c.length
  console.log('cat', performance.now() - t)
}
