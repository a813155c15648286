// A server that is told to end while it works. The command is a process of its own, as for its users.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type ClientRequest, get, request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Serving, serve } from '../cli/run.ts';
import { CHAT, DAEMON_END, daemonLine, framesOf, readAnswer, responseOf, until } from '../support/server.ts';
import { type Answerer, type FakeUpstream, startUpstream } from '../support/upstream.ts';

interface Running extends Serving {
  readonly upstream: FakeUpstream;
  readonly log: () => string;
  chat(body: object): ClientRequest;
}

async function running(t: Test, answer: Answerer, env: Record<string, string> = {}): Promise<Running> {
  const upstream = await startUpstream(t, answer);
  const workspace = t.testdir();
  const serving = await serve(t, workspace, { OLLAMA_BASE_URL: upstream.url, ...env });
  let text = '';
  serving.child.stderr.on('data', (bytes) => {
    text += String(bytes);
  });
  const token = readFileSync(join(workspace, '.api-token'), 'utf8').trim();
  const chat = (body: object): ClientRequest => {
    const request = httpRequest(`${serving.url}/v1/chat`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    request.end(JSON.stringify(body));
    return request;
  };
  return { ...serving, upstream, log: () => text, chat };
}

async function firstBytes(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  response.on('data', (chunk: string) => {
    text += chunk;
  });
  await until(() => text !== '', 'the first bytes');
  return text;
}

function signal(server: Running, name: NodeJS.Signals): Promise<void> {
  server.child.kill(name);
  return until(() => server.log().includes('shutting down'), 'the server to begin its shutdown');
}

const STREAM = { ...CHAT, stream: true };

t.test('SIGTERM takes nothing new and says so, health too, and a stream that ends soon ends whole', async (t) => {
  let finish = (): void => undefined;
  const server = await running(t, (_request, res) => {
    res.write(daemonLine('Hello'));
    finish = () => res.end(DAEMON_END);
  });
  const response = await responseOf(server.chat(STREAM));
  await signal(server, 'SIGTERM');
  for (const path of ['/v1/health', '/v1/adapters', '/nowhere']) {
    const late = await readAnswer(await responseOf(get(`${server.url}${path}`, { agent: false })));
    t.match(late, { status: 503, json: { code: 'SHUTTING_DOWN' }, headers: { connection: 'close' } }, path);
  }
  const refused = await readAnswer(await responseOf(server.chat(STREAM)));
  t.match(refused, { status: 503, json: { code: 'SHUTTING_DOWN' } });
  t.equal(server.upstream.requests.length, 1, 'and nothing was begun for it');
  finish();
  t.same(
    framesOf((await readAnswer(response)).text).map(({ event }) => event),
    ['start', 'content', 'done'],
  );
  t.equal((await server.ended).code, 0);
});

t.test('the time of grace can be set: without any, open streams end at once in an error', async (t) => {
  const server = await running(t, (_request, res) => void res.write(daemonLine('Hello')), { BLOCKHOUSE_DRAIN_MS: '0' });
  const begun = await responseOf(server.chat(STREAM));
  await firstBytes(begun);
  const text = readWhole(begun);
  await signal(server, 'SIGTERM');
  t.match(framesOf(await text).at(-1), { event: 'error', data: { code: 'SHUTTING_DOWN' } });
  t.equal((await server.ended).code, 0);
});

t.test('answers that go on after the time of grace end in an error that says so, in every phase, and the process with 0', async (t) => {
  const server = await running(
    t,
    (request, res) => {
      if (request.body.includes('"begun"')) res.write(daemonLine('Hello'));
      if (request.body.includes('"busy"')) {
        res.writeHead(429, { 'retry-after': '60' });
        res.end('{"error":"slow down"}');
      }
    },
    { BLOCKHOUSE_QUEUE_CONCURRENCY: '4' },
  );
  const begun = await responseOf(server.chat({ ...STREAM, model: 'begun' }));
  await firstBytes(begun);
  const begunText = readWhole(begun);
  const open = (body: object) => {
    const request = server.chat(body);
    return { sent: once(request, 'finish'), answer: responseOf(request).then(readAnswer) };
  };
  const working = [{ ...STREAM, model: 'silent' }, CHAT, { ...CHAT, model: 'busy' }].map(open);
  await server.upstream.arrived(3);
  await until(() => server.log().includes('call retried'), 'the wait before a repetition, which holds no place');
  working.push(open({ ...CHAT, model: 'fourth' }));
  await server.upstream.arrived(4);
  const waiting = open({ ...CHAT, model: 'waiting' });
  await waiting.sent;
  // Requests are read in the order of their coming: the one that waits is there when this one is answered.
  t.equal((await fetch(`${server.url}/v1/health`)).status, 200);
  const answers = Promise.all([...working, waiting].map(({ answer }) => answer));
  await signal(server, 'SIGTERM');
  t.match(framesOf(await begunText).at(-1), { event: 'error', data: { status: 503, code: 'SHUTTING_DOWN' } }, 'a stream that had begun');
  const phases = ['a silent stream', 'a whole answer', 'a wait before a repetition', 'another whole answer', 'a place in the queue'];
  for (const [index, { status, text }] of (await answers).entries()) {
    t.match(text, /"code":"SHUTTING_DOWN"/, phases[index] ?? '');
    if (index > 0 || !text.startsWith(': keep-alive')) t.equal(status, 503, phases[index] ?? ''); // a silence of 10 s opens a stream
  }
  t.equal((await server.ended).code, 0);
  t.equal(server.upstream.requests.length, 5, 'nothing was begun that could not end');
});

async function readWhole(response: IncomingMessage): Promise<string> {
  let text = '';
  response.on('data', (chunk: string) => {
    text += chunk;
  });
  await new Promise((resolve) => response.once('close', resolve));
  return text;
}

t.test('a second signal ends the process at once', async (t) => {
  const server = await running(t, (_request, res) => void res.write(daemonLine('Hello')));
  const request = server.chat(STREAM);
  request.on('error', () => undefined);
  const response = await responseOf(request);
  response.on('error', () => undefined);
  await signal(server, 'SIGTERM');
  server.child.kill('SIGINT');
  t.equal((await server.ended).code, 1, 'and not with the 0 of an end in good order');
});
