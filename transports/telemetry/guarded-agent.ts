// The connections that the packages of OpenTelemetry open to a collector, with agents of node:http.
//
// heard-errors: an error of a connection has a listener for as long as the connection lives. Node 20 and 22 take theirs away when a whole answer has come before the request has left;
//   a collector that answers early and then resets the connection would end the server.
// small-answers: a connection that brings more than MAX_BYTES for one request is closed. The packages keep 4 MiB of an answer, each chunk as a buffer of its own: with chunks of one byte that is
//   more than a gigabyte.
import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';

/** How the packages get the agent of a protocol (`http:`, `https:`). */
export type AgentFactory = (protocol: string) => Agent | Promise<Agent>;

const MAX_BYTES = 64 * 1024;

/** Agents as `factory` makes them, whose connections are watched. */
export function guarded(factory: AgentFactory): AgentFactory {
  return async (protocol) => {
    const agent = await factory(protocol);
    const open = agent.createConnection;
    agent.createConnection = (...given) => {
      const socket = open.apply(agent, given);
      if (socket != null) watch(socket);
      return socket;
    };
    return agent;
  };
}

function watch(socket: Duplex): void {
  let bytes = 0;
  socket.on('error', () => undefined); // heard-errors
  socket.on('free', () => {
    bytes = 0; // the next request may have it
  });
  socket.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > MAX_BYTES) socket.destroy(new Error(`The answer of the collector has more than ${MAX_BYTES / 1024} KiB.`)); // small-answers
  });
}
