// The bare pipe: `node:http` in, undici's `Pool.stream` out, nothing read, checked or changed. What a gateway costs is what it costs
// more than this.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

const upstream = new Pool(process.argv[2] ?? '', { pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });

const server = createServer({ noDelay: true, keepAliveTimeout: 65_000 }, (req, res) => void forward(req, res));
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pid: process.pid })}\n`);
});
process.once('SIGTERM', () => process.exit(0));

async function forward(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const headers = {
    'content-type': req.headers['content-type'] ?? '',
    'content-length': req.headers['content-length'] ?? '',
    accept: req.headers.accept ?? '*/*',
  };
  try {
    await upstream.stream({ path: req.url ?? '/', method: 'POST', headers, body: req, opaque: res }, ({ statusCode, headers: answered, opaque }) => {
      const answer = opaque as ServerResponse;
      answer.writeHead(statusCode, answered);
      return answer;
    });
  } catch {
    // Either side left in the middle.
    res.destroy();
  }
}
