/** Requests of a connection, one at a time. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>

interface Line {
  /** Requests that are here and not answered to their end. */
  open: number
  /** Resolves once the last of them is. */
  last: Promise<void>
}

/**
 * Answers what comes on one connection in turn. Without this the requests that a client sends before it has read an
 * answer would all run at once, each with what it reads ahead, and only the first would learn that the client has gone.
 * A connection that sends more than `waitingMax` ahead is closed.
 */
export function inTurn(answer: Answer, waitingMax: number): Answer {
  const lines = new WeakMap<Socket, Line>()
  return async (request, response) => {
    const { socket } = request
    const line = lines.get(socket) ?? { open: 0, last: Promise.resolve() }
    lines.set(socket, line)
    if (socket.destroyed) return
    if (line.open > waitingMax) {
      socket.destroy()
      return
    }
    const before = line.last
    const ended = Promise.withResolvers<void>()
    line.open += 1
    line.last = ended.promise
    const end = (): void => {
      line.open -= 1
      ended.resolve()
    }
    await before
    if (socket.destroyed) {
      end()
      return
    }
    // The answer of the first in line has the socket, so it closes with it at the latest.
    response.once('close', end)
    await answer(request, response)
  }
}
