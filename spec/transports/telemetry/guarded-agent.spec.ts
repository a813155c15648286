import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { guarded } from '../../../transports/telemetry/guarded-agent.ts';

async function collectorOf(t: Test, answer: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => answer(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function agentOf(t: Test): Promise<Agent> {
  const agent = await guarded(() => new Agent({ keepAlive: true }))('http:');
  t.teardown(() => agent.destroy());
  return agent;
}

/** More than the system takes for a program that does not read. */
const LARGE = Buffer.alloc(8 * 1024 * 1024);

t.test('a collector that answers early and then resets the connection leaves the process alive', async (t) => {
  const port = await collectorOf(t, (socket) => {
    socket.once('data', () => {
      socket.pause();
      socket.end('HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n');
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
  });
  const agent = await agentOf(t);
  for (let count = 0; count < 6; count += 1) {
    const req = request({ port, host: '127.0.0.1', method: 'POST', agent }, (res) => res.resume());
    req.on('error', () => undefined);
    req.write(LARGE);
    req.end();
    await new Promise((resolve) => req.once('socket', (socket) => socket.once('close', resolve)));
  }
  t.pass('an error that nobody hears would have ended it');
});

t.test('the limit of an answer counts for each request of a connection', async (t) => {
  const part = 'x'.repeat(40 * 1024);
  const port = await collectorOf(t, (socket) => {
    socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${part.length}\r\n\r\n${part}`));
  });
  const agent = await agentOf(t);
  const sockets = new Set<unknown>();
  for (let count = 0; count < 3; count += 1) {
    const req = request({ port, host: '127.0.0.1', agent }).end();
    const [res] = await once(req, 'response');
    sockets.add(req.socket);
    await once(res.resume(), 'end');
    await new Promise(setImmediate);
  }
  t.equal(sockets.size, 1);
});
