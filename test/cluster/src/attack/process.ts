/** Hostile peers in a process of their own; see api.ts. */
import { constants, setPriority } from 'node:os'
import { serveCommands } from '../child.ts'
import type { AttackCommands } from './api.ts'
import { Attack } from './attack.ts'

// What is measured is what they cost a server, not who gets this machine's processors.
setPriority(constants.priority.PRIORITY_LOW)

let attack: Attack | undefined

const commands: AttackCommands = {
  start: async (init) => {
    attack = new Attack(init)
    await attack.underWay()
  },
  finish: async () => {
    if (attack === undefined) throw new Error('no attack is under way')
    return await attack.finish()
  }
}

serveCommands(commands, async () => {
  await attack?.finish()
})
