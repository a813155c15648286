// The bare pipe: `node:http` in, undici out, nothing read, checked or changed. What a gateway costs is what it costs more than this.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Dispatcher, Pool } from 'undici';

const upstream = new Pool(process.argv[2] ?? '', { pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });

const server = createServer({ noDelay: true, keepAliveTimeout: 65_000 }, (req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.once('end', () => forward(req, res, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pid: process.pid })}\n`);
});
process.once('SIGTERM', () => process.exit(0));

function forward(req: IncomingMessage, res: ServerResponse, body: Buffer): void {
  const headers = { 'content-type': req.headers['content-type'] ?? '', accept: req.headers.accept ?? '*/*' };
  let upstreamCall: Dispatcher.DispatchController | undefined;
  res.once('close', () => {
    if (!res.writableFinished) upstreamCall?.abort(new Error('the client left'));
  });
  upstream.dispatch(
    { path: req.url ?? '/', method: 'POST', headers, body },
    {
      onRequestStart: (controller) => {
        upstreamCall = controller;
      },
      onResponseStart: (_controller, status, answered) => void res.writeHead(status, answered),
      onResponseData: (controller, chunk) => {
        if (res.write(chunk)) return;
        controller.pause();
        res.once('drain', () => controller.resume());
      },
      onResponseEnd: () => void res.end(),
      onResponseError: () => void res.destroy(),
    },
  );
}
