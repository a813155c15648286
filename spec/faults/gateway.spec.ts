// Group G of the catalogue of faults: what requests, providers and networks do to the gateway of the built server.
//
// Most bad answers come from a provider that the request names by its base URL. Each such address has a breaker of its own, so that no case decides what
// the next one meets; the breaker has a case of its own (G114).
//
// What can't be a test here, and why:
//   G118  20,000 properties take some 100 ms to rewrite for Google on a busy machine; here they are half as many.
//   G111  A connection that never stands needs an address beyond loopback that swallows packets; the limit itself is held by spec/adapters.
//         The 60 s of the catalogue are settings; the built server runs with short ones.
import { once } from 'node:events';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { Wire } from '../conformance/wire.ts';
import { anthropic } from '../conformance/wires/anthropic.ts';
import { bedrock } from '../conformance/wires/bedrock.ts';
import { google } from '../conformance/wires/google.ts';
import { ollama } from '../conformance/wires/ollama.ts';
import { openaiChat } from '../conformance/wires/openai-chat.ts';
import { type Ask, callsOf, makeBlock, type Reply, untilHistory } from '../support/fault-calls.ts';
import { CANARIES, type FaultWorld, type FaultWorldOptions, rssMiB, sharedFaultWorld, startFaultWorld } from '../support/fault-world.ts';
import { DAEMON_END, daemonLine, framesOf, until } from '../support/server.ts';
import { sweep } from '../support/sweep.ts';
import { type Answerer, sendInPieces, startUpstream } from '../support/upstream.ts';
import { answerWith } from '../support/wire-server.ts';

const PATHS: readonly [prefix: string, wire: Wire][] = [
  ['/v1/chat/completions', openaiChat],
  ['/v1/messages', anthropic],
  ['/v1beta/', google],
  ['/model/', bedrock],
  ['/api/', ollama],
];
const FIVE = PATHS.map(([, wire]) => wire);

/** Each provider by its path, in its own form. */
const friendly: Answerer = (request, res, index) => {
  const wire = PATHS.find(([prefix]) => request.path.startsWith(prefix))?.[1];
  if (wire === undefined) return void res.writeHead(404).end('{}');
  return answerWith(wire)(request, res, index);
};

const chatOf = ({ adapter, model }: Wire, parts: object = {}) => ({ adapter, model, messages: [{ role: 'user', content: 'hi' }], ...parts });
/** Where a provider of this wire is to be found at `url`. */
const baseOf = ({ adapter }: Wire, url: string): string => (adapter === 'openai' ? `${url}/v1` : url);

interface GatewayWorld extends FaultWorld {
  readonly ask: Ask;
  chat(wire: Wire, parts?: object): Promise<Reply>;
  /** From now on. */
  answer(answerer: Answerer): void;
  /** Another provider, for one answer: `parts` of a request that goes there, with a key of its own. */
  stranger(t: Test, wire: Wire, answerer: Answerer): Promise<{ readonly parts: object; readonly count: () => number }>;
  /** The invariants, once connections to the provider that merely wait for a next request are closed. */
  settle(t: Test, name: string): Promise<void>;
}

/** Without options in the world of all specs. */
async function startWorld(t: Test, options?: FaultWorldOptions): Promise<GatewayWorld> {
  let answer = friendly;
  const answerNow: Answerer = (request, res, index) => answer(request, res, index);
  const world = await (options === undefined ? sharedFaultWorld(answerNow) : startFaultWorld(t, { ...options, answer: answerNow }));
  const ask = callsOf(world);
  const chat = (wire: Wire, parts: object = {}): Promise<Reply> => ask('POST', '/v1/chat', chatOf(wire, parts));
  for (const wire of FIVE) for (const stream of [false, true]) t.equal((await chat(wire, { stream })).status, 200, `${wire.name} works`);
  await world.worstStallMs();
  const strangers: { closeIdleConnections(): void }[] = [world.upstream.server];
  return Object.assign(world, {
    ask,
    chat,
    answer: (answerer: Answerer) => {
      answer = answerer;
    },
    stranger: async (t: Test, wire: Wire, answerer: Answerer) => {
      const { url, server, requests } = await startUpstream(t, answerer);
      strangers.push(server);
      return { parts: { config: { baseURL: baseOf(wire, url), apiKey: 'key-of-the-stranger' } }, count: () => requests.length };
    },
    settle: async (t: Test, name: string) => {
      for (const server of strangers) server.closeIdleConnections();
      await world.check(t, name);
    },
  });
}

/** Events and text of a stream. Throws for anything that is no frame of the contract. */
function read(text: string): { readonly events: string; readonly text: string; readonly last: Record<string, unknown> } {
  const frames = framesOf(text);
  return {
    events: [...new Set(frames.map(({ event }) => event))].join(' '),
    text: frames.map(({ data }) => data['text'] ?? '').join(''),
    last: frames.at(-1)?.data ?? {},
  };
}

const chunk = (content: string, finish: string | null = null): string => JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] });
const END = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;

/** Of the cases that need no settings of their own, each of which leaves the provider friendly. */
let shared: Promise<GatewayWorld> | undefined;
const sharedWorld = (): Promise<GatewayWorld> => {
  shared ??= startWorld(t);
  return shared;
};

t.test('G101 to G106, G116 to G122: what a client says, and how it leaves', async (t) => {
  const world = await sharedWorld();

  await t.test('G101 a stored key goes to no address that a request names, on any route and in any place', async (t) => {
    const { length } = world.upstream.requests;
    const elsewhere = await startUpstream(t, friendly);
    const { port } = new URL(elsewhere.url);
    // Each of them leads to the provider of this test, some once they are looked up, except for the first.
    for (const base of [
      `http://stranger.test:${port}`,
      `http://localhost.:${port}`,
      `http://[::ffff:127.0.0.1]:${port}`,
      elsewhere.url,
      `http://localhost:${port}`,
    ])
      for (const wire of FIVE) {
        const config = { baseURL: baseOf(wire, base) };
        for (const stream of [false, true]) t.match(await world.chat(wire, { config, stream }), { status: 400, json: { code: 'INVALID_REQUEST' } }, wire.name);
        t.match(await world.ask('POST', `/v1/adapters/${wire.adapter}/verify`, { config }), { status: 400 }, `${wire.name}: verify`);
      }
    const baseURL = elsewhere.url;
    const tool = { name: 'f', parameters: { type: 'object' } };
    const nested: object[] = [
      { baseURL },
      { base_url: baseURL },
      { extra_body: { baseURL } },
      { headers: { host: 'stranger.test' } },
      { params: { baseURL } },
      { config: { headers: { authorization: 'x' } } },
      { config: { base_url: baseURL } },
      { config: { config: { baseURL } } },
      { tools: [{ ...tool, baseURL }] },
      { tools: [{ type: 'function', function: { ...tool, url: baseURL } }] },
      { messages: [{ role: 'user', content: 'hi', baseURL }] },
    ];
    for (const wire of FIVE)
      for (const parts of nested) t.equal((await world.chat(wire, parts)).status, 400, `${wire.name} ${JSON.stringify(parts).slice(0, 50)}`);
    t.equal(elsewhere.requests.length, 0);
    t.equal(world.upstream.requests.length, length);
    await world.settle(t, 'G101');
  });

  await t.test('G102 metadata, private and malformed addresses are refused in every spelling, a configured address is known in each', async (t) => {
    const { port } = new URL(world.upstream.url);
    const never = [
      'http://169.254.169.254',
      'http://2852039166',
      'http://0xa9fea9fe',
      'http://0251.0376.0251.0376',
      'http://[::ffff:169.254.169.254]',
      'http://[64:ff9b::169.254.169.254]',
      'http://①⑥⑨.②⑤④.①⑥⑨.②⑤④',
      'http://metadata.google.internal.',
      'http://100.100.100.200',
      'http://[fd00:ec2::254]',
      `http://0:${port}`,
      `http://0.0.0.0:${port}`,
      `http://[::]:${port}`,
      `http://user:pass@127.0.0.1:${port}`,
      `http://127.0.0.1:${port}?x=1`,
      'file:///etc/passwd',
      'gopher://127.0.0.1:70',
      'data:text/plain,x',
      'ftp://127.0.0.1',
      '//127.0.0.1',
      'http://',
    ];
    for (const baseURL of never) {
      t.equal((await world.chat(openaiChat, { config: { baseURL } })).status, 400, baseURL);
      t.equal((await world.chat(openaiChat, { config: { baseURL, apiKey: 'my-own' } })).status, 400, `${baseURL} with an own key`);
    }
    for (const baseURL of [
      'http://10.0.0.6',
      'http://192.168.1.1',
      'http://127.0.0.1.nip.io',
      'http://localhost.evil.example',
      `http://evil.example\\@127.0.0.1:${port}`,
    ])
      t.equal((await world.chat(openaiChat, { config: { baseURL } })).status, 400, `${baseURL} with the stored key`);
    for (const host of ['127.1', '0x7f.1', '2130706433', '0177.0.0.1', '①②⑦.⓪.⓪.①']) {
      const { length } = world.upstream.requests;
      t.equal((await world.chat(openaiChat, { config: { baseURL: `http://${host}:${port}/v1` } })).status, 200, host);
      t.equal(world.upstream.requests.length, length + 1, host);
    }
    await world.settle(t, 'G102');
  });

  await t.test('G106 values that could split a header are refused, and nothing is sent', async (t) => {
    const { length } = world.upstream.requests;
    for (const value of ['a\r\nx: y', 'a\nb', 'a\0b', 'k\u{1f600}y', 'ü', ' a', '', 'x'.repeat(10_000), '\u2028', 1, null, ['a'], {}])
      for (const [wire, field] of [
        [openaiChat, 'apiKey'],
        [anthropic, 'apiKey'],
        [google, 'apiKey'],
        [bedrock, 'secretAccessKey'],
        [bedrock, 'region'],
      ] as const)
        t.match(
          await world.chat(wire, { config: { [field]: value } }),
          { status: 400, json: { code: 'INVALID_REQUEST' } },
          `${field}, ${JSON.stringify(value).length} characters`,
        );
    for (const field of ['organization', 'project', 'authToken', 'api', 'sessionToken\r\n'])
      t.equal((await world.chat(openaiChat, { config: { [field]: 'a\r\nb' } })).status, 400, field);
    t.equal(world.upstream.requests.length, length);
    await world.settle(t, 'G106');
  });

  await t.test('G118 hostile schemas of tools are forwarded or refused: none is run, none is fetched', async (t) => {
    const fetched = await startUpstream(t, (_request, res) => void res.end('{}'));
    const nested = (depth: number): string => `${'{"not":'.repeat(depth)}{}${'}'.repeat(depth)}`;
    const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`p${n}`, { type: 'string' }]));
    const schemas: [title: string, json: string][] = [
      ['a pattern that backtracks', JSON.stringify({ type: 'object', properties: { a: { type: 'string', pattern: '^(a|a)*$' } } })],
      ['50 times not', nested(50)],
      ['5,000 times not', nested(5000)],
      ['20,000 properties', JSON.stringify({ type: 'object', properties })],
      ['a cyclic reference', '{"type":"object","$defs":{"a":{"$ref":"#/$defs/a"}},"properties":{"x":{"$ref":"#/$defs/a"}}}'],
      ['a remote reference', JSON.stringify({ type: 'object', properties: { x: { $ref: `${fetched.url}/schema.json` } } })],
      ['$data', '{"type":"object","properties":{"x":{"const":{"$data":"1/y"}}}}'],
      ['__proto__', '{"type":"object","properties":{"__proto__":{"type":"string"}}}'],
    ];
    for (const [title, json] of schemas)
      for (const wire of FIVE) {
        // Written by hand: what is to be sent has depths and names that a library would change.
        const body = JSON.stringify(chatOf(wire, { tools: [{ name: 'f', parameters: 'HERE' }] })).replace('"HERE"', json);
        const headers = { authorization: `Bearer ${world.token}`, 'content-type': 'application/json', connection: 'close' };
        const response = await fetch(`${world.url}/v1/chat`, { method: 'POST', headers, body });
        world.heard(await response.text());
        t.match(response.status, /^(5|20),000/.test(title) ? 400 : /200|400/, `${wire.name}: ${title}`);
      }
    t.equal(fetched.requests.length, 0);
    await world.settle(t, 'G118');
  });

  await t.test('G122 names of adapters and models that are none are a 400 or a 404, and lead nowhere', async (t) => {
    const { length } = world.upstream.requests;
    const names = ['__proto__', 'constructor', 'toString', '../openai', 'openai/../x', 'OPENAI', 'openai\0', ' openai', 'x'.repeat(10_000)];
    for (const adapter of [...names, '', 1, null, ['openai']])
      t.equal((await world.ask('POST', '/v1/chat', chatOf(openaiChat, { adapter }))).status, 400, `${String(adapter).slice(0, 20)}`);
    for (const name of names) {
      const part = encodeURIComponent(name);
      t.match((await world.ask('GET', `/v1/adapters/${part}/models`)).status, /404|414/, name.slice(0, 20));
      t.match((await world.ask('POST', `/v1/adapters/${part}/verify`, {})).status, /404|414/, name.slice(0, 20));
    }
    for (const wire of FIVE)
      for (const model of ['..', '../x', 'a/../b', 'a/..', './a', 'a b', 'ü', 'a\r\nb', 'x'.repeat(10_000), '', 1, null])
        t.equal((await world.chat(wire, { model })).status, 400, `${wire.name} ${String(model).slice(0, 20)}`);
    t.equal(world.upstream.requests.length, length);
    for (const wire of FIVE) {
      for (const model of ['__proto__', 'constructor', 'a%2e%2e', '?x=1', '#']) await world.chat(wire, { model });
      t.equal((await world.chat(wire)).status, 200, wire.name);
    }
    for (const { path } of world.upstream.requests.slice(length))
      t.ok(
        PATHS.some(([prefix]) => path.startsWith(prefix)),
        path,
      );
    await world.settle(t, 'G122');
  });
  const open = (wire: Wire, parts: object) => {
    const body = JSON.stringify(chatOf(wire, parts));
    const headers = { authorization: `Bearer ${world.token}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const request = httpRequest({ host: '127.0.0.1', port: world.port, method: 'POST', path: '/v1/chat', agent: false, headers });
    request.on('error', () => undefined); // it is cut on purpose
    request.end(body);
    return request;
  };

  await t.test('G116 a client that leaves, in any phase, has its call of the provider ended', async (t) => {
    const cancelled = (): number => world.output().split('"CANCELLED"').length - 1;
    let closed = 0;
    const begun: string[] = [];
    world.answer((request, res, index) => {
      begun.push(request.body);
      void request.closed.then(() => {
        closed += 1;
      });
      if (request.body.includes('"whole"')) return friendly(request, res, index);
      if (request.body.includes('"some"')) res.writeHead(200, { 'content-type': 'application/x-ndjson' }).write(daemonLine('some text'));
    });
    const phases: [title: string, content: string, leave: (request: ReturnType<typeof open>) => Promise<void>][] = [
      ['as soon as it has asked', 'nothing', async (request) => void (await once(request, 'finish'))],
      ['before the first byte', 'nothing', async () => undefined],
      ['in mid-stream', 'some', async (request) => void (await once((await once(request, 'response'))[0] as IncomingMessage, 'data'))],
      ['after the last byte', 'whole', async (request) => void (await once(((await once(request, 'response'))[0] as IncomingMessage).resume(), 'end'))],
    ];
    for (const [title, content, leave] of phases) {
      const gone = cancelled();
      const messages = [
        { role: 'user', content: title },
        { role: 'user', content },
      ];
      const ofPhase = (): number => begun.filter((body) => body.includes(title)).length; // a call of the phase before may arrive late
      const requests = Array.from({ length: 25 }, () => open(ollama, { stream: true, messages }));
      const left = Promise.all(requests.map(leave));
      if (!title.startsWith('as soon')) await until(() => ofPhase() === 25, `${title}: all have arrived`);
      await left;
      for (const request of requests) request.destroy();
      // A request that was left before it was read is begun and given up later.
      if (content !== 'whole') await until(() => cancelled() === gone + 25, `${title}: the server knows that they left`);
      await until(() => closed === begun.length, `${title}: all calls of the provider have ended`);
      t.pass(`${title}: ${ofPhase()} calls`);
    }
    world.answer(friendly);
    t.equal((await world.chat(ollama)).status, 200);
    await world.settle(t, 'G116');
  });

  await t.test('G117 a provider that is faster than its reader has to wait', async (t) => {
    const streams = sweep(4, 1);
    const line = daemonLine('z'.repeat(4000));
    const lines = 4500; // 18 MB each, beyond what the buffers of the system take
    let written = 0;
    const { parts } = await world.stranger(t, ollama, async (_request, res) => {
      res.writeHead(200, { 'content-type': 'application/x-ndjson' });
      for (let n = 0; n < lines && !res.destroyed; n += 1) {
        written += line.length;
        if (!res.write(line)) await Promise.race([once(res, 'drain'), once(res, 'close')]);
      }
      res.end(DAEMON_END);
    });
    const before = rssMiB(world.pid);
    const requests = Array.from({ length: streams }, () => open(ollama, { ...parts, stream: true }));
    const responses = await Promise.all(requests.map(async (request) => (await once(request, 'response'))[0] as IncomingMessage));
    let seen = -1;
    let steady = 0;
    await until(async () => {
      steady = written === seen ? steady + 1 : 0;
      seen = written;
      await delay(50);
      return steady === 10;
    }, 'the providers wait');
    t.ok(written < streams * lines * line.length, `${(written / 1e6).toFixed(0)} MB were taken from them`);
    const grown = rssMiB(world.pid) - before;
    t.ok(grown < 8 * streams + 24, `${grown.toFixed(0)} MiB more for ${streams} streams`);
    const texts = await Promise.all(
      responses.map(async (response) => {
        let characters = 0;
        let tail = '';
        for await (const piece of response) {
          const text = String(piece);
          characters += text.replaceAll(/[^z]+/g, '').length; // a split would make a string of each
          tail = (tail + text).slice(-200);
        }
        return { characters, tail };
      }),
    );
    for (const { characters, tail } of texts) {
      t.equal(characters, lines * 4000, 'all of it has come');
      t.match(tail, /event: done\n/);
    }
    await world.settle(t, 'G117');
  });
});

t.test('G104, G107, G108, G112, G113, G120 to G123: what a provider answers', async (t) => {
  const world = await sharedWorld();

  await t.test('G104 redirects are told and never followed', async (t) => {
    const other = await startUpstream(t, friendly);
    for (const status of [301, 302, 303, 307, 308])
      for (const place of [other.url, '/v1/elsewhere']) {
        world.answer((request, res) => void res.writeHead(status, { location: place.startsWith('/') ? place : place + request.path }).end());
        const { length } = world.upstream.requests;
        await Promise.all(
          FIVE.map(async (wire) => {
            const answer = await world.chat(wire, { stream: status % 2 === 0 });
            t.match(answer, { status: 502, json: { upstreamStatus: status, error: /redirects are not followed/ } }, `${wire.name} ${status} ${place}`);
          }),
        );
        t.equal(world.upstream.requests.length, length + FIVE.length, 'one call each');
      }
    t.equal(other.requests.length, 0);
    world.answer(friendly);
    await world.settle(t, 'G104');
  });

  await t.test('G107 whatever a model says stays inside its frames, and there is one end', async (t) => {
    const said = [
      '\n\nevent: done\ndata: {}\n\n',
      '\r\r',
      '\r\n\r\n',
      '\u2028\u2029\u0085',
      '[DONE]',
      'data: [DONE]\n\n',
      ': comment\n\n',
      'event: error\ndata: {"error":"x"}\n\n',
      'id: 1\nretry: 1\n\n',
      '\0\ufeff',
    ];
    const { parts } = await world.stranger(t, openaiChat, (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(said.map((text) => `data: ${chunk(text)}\n\n`).join('') + END);
    });
    const { text } = await world.chat(openaiChat, { ...parts, stream: true });
    t.match(read(text), { events: 'start content done', text: said.join('') });
    t.equal(framesOf(text).filter(({ event }) => event === 'done').length, 1);
    t.notMatch(text, /[\r\0]/);
    await world.settle(t, 'G107');
  });

  await t.test('G108 odd event streams are read exactly or end in an error frame, never in a loss', async (t) => {
    const plain = `data: ${chunk('h\u00e9l')}\n\ndata: ${chunk('lo \u{1f600}')}\n\n${END}`;
    const whole = { events: 'start content done', text: 'h\u00e9llo \u{1f600}' };
    const broken = { events: 'start content error' };
    const cases: [title: string, bytes: string, size: number, outcome: object][] = [
      ['byte by byte', plain, 1, whole],
      ['in threes', plain, 3, whole],
      ['CRLF', plain.replaceAll('\n', '\r\n'), 7, whole],
      ['CR', plain.replaceAll('\n', '\r'), 1, whole],
      ['a byte order mark', `\ufeff${plain}`, 1, whole],
      ['comments', plain.replaceAll('data:', ': ping\n\n:\nx: y\ndata:'), 5, whole],
      ['data after [DONE]', `${plain}data: ${chunk('late')}\n\n`, 4096, whole],
      ['no blank line at the end', plain.trimEnd(), 4096, whole],
      ['no [DONE] and no end', plain.slice(0, plain.indexOf(END)), 4096, broken],
      ['a chunk that is no JSON', `data: ${chunk('a')}\n\ndata: {"choices":[\n\n${END}`, 4096, broken],
      ['a line of 3 MB', `data: ${chunk('a')}\n\ndata: ${chunk('x'.repeat(3_000_000))}\n\n${END}`, 65_536, { events: 'start content done' }],
      ['a line of 3 MB that never ends', `data: ${chunk('a')}\n\ndata: ${'x'.repeat(3_000_000)}`, 65_536, broken],
    ];
    for (const [title, bytes, size, outcome] of cases) {
      const { parts } = await world.stranger(t, openaiChat, (_request, res) => sendInPieces(res, Buffer.from(bytes), size));
      const answer = await world.chat(openaiChat, { ...parts, stream: true });
      // What is told before the first text has come gets a status instead of a frame.
      if (answer.status === 200) t.match(read(answer.text), outcome, title);
      else t.match(answer, { status: 502, json: { code: 'UPSTREAM_MALFORMED' } }, title);
      t.ok(answer.status === 200 || outcome === broken, `${title}: ${answer.status}`);
    }
    await world.settle(t, 'G108');
  });

  await t.test('G112 answers that break HTTP are a 502, and nothing of their heads is handed on', async (t) => {
    const body = answerBody();
    const length = `content-length: ${body.length}\r\n`;
    const heads: [title: string, bytes: string, status: RegExp][] = [
      ['a length and chunks', `HTTP/1.1 200 OK\r\n${length}transfer-encoding: chunked\r\n\r\n${body}`, /502/],
      ['two lengths', `HTTP/1.1 200 OK\r\n${length}content-length: 1\r\n\r\n${body}`, /502/],
      ['headers of 70 KB', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}\r\n${length}\r\n${body}`, /502/],
      ['no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', /502/],
      ['204 with a body', `HTTP/1.1 204 No Content\r\n${length}\r\n${body}`, /502/],
      ['a body that is cut', `HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n${body}`, /502/],
      [
        'cookies and hop-by-hop headers',
        `HTTP/1.1 200 OK\r\nset-cookie: a=b\r\nconnection: close, x-hop\r\nx-hop: 1\r\nkeep-alive: 1\r\nupgrade: h2c\r\nserver: s\r\n${length}\r\n${body}`,
        /200/,
      ],
    ];
    for (const [title, bytes, status] of heads) {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => socket.end(bytes));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.teardown(() => server.close());
      const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const answer = await world.chat(openaiChat, { config: { baseURL, apiKey: 'my-own' } });
      t.match(answer.status, status, `${title}: ${answer.text}`);
      for (const name of ['set-cookie', 'x-hop', 'upgrade', 'server']) t.equal(answer.headers.get(name), null, `${title}: ${name}`);
    }
    await world.settle(t, 'G112');
  });

  await t.test('G113 a Retry-After of any size is handed on as a second to an hour, or not at all', async (t) => {
    const waits = ['99999999', '-1', 'NaN', 'Infinity', '1e9', '0', 'Fri, 01 Jan 2099 00:00:00 GMT', 'tomorrow', '120'];
    await Promise.all(
      [429, 503, 529].flatMap((status) =>
        waits.map(async (wait) => {
          const { parts } = await world.stranger(t, anthropic, (_request, res) => {
            res.writeHead(status, { 'content-type': 'application/json', 'retry-after': wait });
            res.end('{"type":"error","error":{"type":"x","message":"slow down"}}');
          });
          // A stream waits for no repetition that would outlast the time until it opens.
          const answer = await world.chat(anthropic, { ...parts, stream: true });
          t.equal(answer.status, status === 429 ? 429 : 502, `${status} ${wait}`);
          const told = answer.headers.get('retry-after');
          t.ok(told === null || (Number(told) >= 1 && Number(told) <= 3600), `${status} ${wait}: ${told}`);
          if (['99999999', 'Fri, 01 Jan 2099 00:00:00 GMT'].includes(wait)) t.equal(told, '3600', `${status} ${wait}`);
          if (wait === '120') t.equal(told, wait, `${status} ${wait}`);
        }),
      ),
    );
    await world.settle(t, 'G113');
  });

  await t.test('G120 a usage that can not be true is neither told nor added up', async (t) => {
    const counts = [-5, '12', Number.NaN, 2 ** 60, 1.5, null, undefined, {}, [1], true];
    const usages = [undefined, null, [], 'x', ...counts.map((count) => ({ prompt_tokens: count, completion_tokens: count, total_tokens: count }))];
    let usage: unknown;
    world.answer((request, res) => {
      if (!request.body.includes('"stream":true')) return void res.writeHead(200, { 'content-type': 'application/json' }).end(answerBody(usage));
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const twice = `data: ${JSON.stringify({ choices: [], usage })}\n\n`.repeat(2);
      res.end(`data: ${chunk('hi', 'stop')}\n\n${twice}data: [DONE]\n\n`);
    });
    const isUsage = (value: Record<string, unknown>): boolean =>
      ['inputTokens', 'outputTokens', 'totalTokens'].every((name) => Number.isSafeInteger(value[name]) && (value[name] as number) >= 0) &&
      value['totalTokens'] === (value['inputTokens'] as number) + (value['outputTokens'] as number);
    for (usage of usages) {
      const what = JSON.stringify(usage) ?? 'absent';
      const answer = await world.chat(openaiChat);
      if (answer.status === 200) t.ok(isUsage(answer.json.usage), `${what}: ${JSON.stringify(answer.json.usage)}`);
      else t.match(answer, { status: 502, json: { code: 'UPSTREAM_MALFORMED' } }, what);
      const { events, last } = read((await world.chat(openaiChat, { stream: true })).text);
      t.match(events, /done|error/);
      if (events.includes('done')) t.ok(isUsage(last['usage'] as Record<string, unknown>), `${what}: ${JSON.stringify(last['usage'])}`);
    }
    const adapter = { provider: 'openai', model: 'a-model-without-a-price' };
    await makeBlock(t, world.ask, 'costly', { adapter, autoStart: true });
    let before = 0;
    for (const [n, count] of [7, -5, 2 ** 60, '12', 7].entries()) {
      usage = { prompt_tokens: count, completion_tokens: count, total_tokens: count };
      await world.ask('POST', '/api/blocks/costly/chat', { message: `message ${n}` });
      await untilHistory(world.ask, 'costly', `answer ${n}`, (entries) => entries.filter(({ role }) => role === 'assistant').length === n + 1);
      const { costs } = (await world.ask('GET', '/api/blocks/costly')).json;
      const total = costs.totalInput + costs.totalOutput;
      t.ok(Number.isSafeInteger(total) && total >= before, `${JSON.stringify(count)}: ${total} after ${before}`);
      t.equal(costs.totalCost, null, 'nobody knows its price');
      before = total;
    }
    t.equal((await world.ask('GET', '/api/costs?block=costly')).status, 200);
    await world.ask('DELETE', '/api/blocks/costly');
    world.answer(friendly);
    await world.settle(t, 'G120');
  });

  await t.test('G121 while auth.json is rewritten, torn and deleted every request has the old key, the new one, or none', async (t) => {
    const path = join(world.workspace, 'auth.json');
    const old = JSON.parse(readFileSync(path, 'utf8')) as Record<string, object>;
    const fresh = 'sk-ant-canary-rotated-0815';
    const oldText = JSON.stringify(old);
    const freshText = JSON.stringify({ ...old, anthropic: { ...old['anthropic'], apiKey: fresh } });
    const states: (() => void)[] = [
      () => writeFileSync(path, freshText),
      () => writeFileSync(path, oldText.slice(0, oldText.length >> 1)),
      () => writeFileSync(path, ''),
      () => rmSync(path),
      () => {
        writeFileSync(`${path}.new`, oldText, { mode: 0o600 });
        renameSync(`${path}.new`, path);
      },
    ];
    const { length } = world.upstream.requests;
    let isOver = false;
    const writer = (async () => {
      for (let n = 0; !isOver; n += 1) {
        states[n % states.length]?.();
        await delay(60);
      }
    })();
    const seen = new Map<number, number>();
    for (let round = 0; round < 30; round += 1) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => world.chat(anthropic)));
      for (const { status } of answers) seen.set(status, (seen.get(status) ?? 0) + 1);
      for (const { status, text } of answers) t.ok(status === 200 || status === 503, `${status} ${status === 200 ? '' : text}`);
      await delay(40);
    }
    isOver = true;
    await writer;
    for (const { headers } of world.upstream.requests.slice(length)) t.ok([CANARIES.anthropic, fresh].includes(String(headers['x-api-key'])), 'a whole key');
    t.ok((seen.get(200) ?? 0) > 0, JSON.stringify([...seen]));
    writeFileSync(`${path}.new`, oldText, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    await until(async () => {
      const { status } = await world.chat(anthropic); // a 503 made no call: the last one is of an earlier state
      return status === 200 && world.upstream.requests.at(-1)?.headers['x-api-key'] === CANARIES.anthropic;
    }, 'the old key is used again');
    t.notOk(world.output().includes(fresh), 'the new key is in no log');
    await world.settle(t, 'G121');
  });

  await t.test('G123 a provider that tells a key back is told on without it', async (t) => {
    world.answer((request, res) => {
      const { authorization, 'x-api-key': anthropicKey, 'x-goog-api-key': googleKey } = request.headers;
      const echo = `no: ${String(authorization)} ${String(anthropicKey)} ${String(googleKey)} in ${JSON.stringify(request.headers)} of ${request.path}`;
      res.writeHead(400, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ message: echo, error: request.path.startsWith('/api/') ? echo : { message: echo, type: 'x' } }));
    });
    for (const wire of FIVE) {
      for (const stream of [false, true]) {
        const { status, text } = await world.chat(wire, { stream });
        t.equal(status, 502, wire.name);
        t.match(text, /no: /, `${wire.name}: its own words are told`);
      }
      await world.ask('POST', `/v1/adapters/${wire.adapter}/verify`, {});
    }
    world.answer(friendly);
    await world.settle(t, 'G123'); // which looks for the keys
  });
});

function answerBody(usage: unknown = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }): string {
  return JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }], usage });
}

t.test('G110, G111: bodies without end, and silence', async (t) => {
  // An answer may have 32 MiB before it is refused, and malloc may keep the pages of two such pieces.
  const world = await startWorld(t, { env: { BLOCKHOUSE_FIRST_BYTE_TIMEOUT_MS: '700', BLOCKHOUSE_IDLE_TIMEOUT_MS: '700' }, memoryLimitMiB: 96 });

  await t.test('G110 bodies without end, compressed or encoded a thousand times are a 502, and no memory', async (t) => {
    const encodings: [title: string, headers: Record<string, string>, body: Buffer][] = [
      ['a gzip bomb', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(20_000_000))],
      ['br', { 'content-encoding': 'br' }, Buffer.alloc(1000)],
      ['1,000 encodings', { 'content-encoding': Array.from({ length: 1000 }, () => 'gzip').join(', ') }, Buffer.alloc(1000)],
    ];
    for (const stream of [false, true])
      for (const [title, headers, body] of encodings) {
        const { parts } = await world.stranger(
          t,
          openaiChat,
          (_request, res) => void res.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).end(body),
        );
        t.match(await world.chat(openaiChat, { ...parts, stream }), { status: 502, json: { code: 'UPSTREAM_MALFORMED' } }, title);
      }
    const piece = Buffer.alloc(65_536, ' ');
    let ended = 0;
    const { parts } = await world.stranger(t, openaiChat, async (_request, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.once('close', () => {
        ended += 1;
      });
      while (!res.destroyed) if (!res.write(piece)) await Promise.race([once(res, 'drain'), once(res, 'close')]);
    });
    t.match(await world.chat(openaiChat, parts), { status: 502, json: { code: 'UPSTREAM_MALFORMED', error: /larger than/ } }, 'a body without end');
    await until(() => ended === 1, 'its connection is closed');
    await world.settle(t, 'G110');
  });

  await t.test('G111 a provider that falls silent is a 502 when its time is over, and its connection is closed', async (t) => {
    const drip = async (res: { readonly destroyed: boolean }, write: () => void): Promise<void> => {
      while (!res.destroyed) {
        write();
        await delay(100);
      }
    };
    const silences: [title: string, answerer: Answerer][] = [
      ['nothing at all', () => undefined],
      ['a head only', (_request, res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()],
      ['interim answers without end', (_request, res) => drip(res, () => res.writeProcessing())],
      ['some text, and then nothing', (_request, res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${chunk('hi')}\n\n`)],
    ];
    const isLeft = async (title: string, answerer: Answerer, stream: boolean): Promise<void> => {
      let closed = 0;
      const { parts, count } = await world.stranger(t, openaiChat, (request, res, index) => {
        void request.closed.then(() => {
          closed += 1;
        });
        return answerer(request, res, index);
      });
      const { status, json, text } = await world.chat(openaiChat, { ...parts, stream });
      const error = status === 200 ? read(text).last : json;
      t.match(error, { status: 502, code: /UPSTREAM_(TIMEOUT|MALFORMED)/ }, `${title}, stream ${stream}`);
      if (!title.startsWith('interim')) t.equal(error.code, 'UPSTREAM_TIMEOUT', title);
      await until(() => closed === count(), `${title}: its connection is closed`);
    };
    // Each waits for its time to be over.
    await Promise.all(silences.flatMap(([title, answerer]) => [false, true].map((stream) => isLeft(title, answerer, stream))));
    await world.settle(t, 'G111');
  });
});

t.test('G114 a provider that fails every call is left alone after 20 failures, then tried once; the others work on', async (t) => {
  const world = await sharedWorld();
  const isAnthropic = ({ path }: { readonly path: string }): boolean => path.startsWith('/v1/messages');
  const calls = (): number => world.upstream.requests.filter(isAnthropic).length;
  const fail: Answerer = (request, res, index) => {
    if (!isAnthropic(request)) return friendly(request, res, index);
    res.writeHead(500, { 'content-type': 'application/json' }).end('{"type":"error","error":{"type":"api_error","message":"oops"}}');
  };
  world.answer(fail);
  const before = calls();
  const others = Promise.all(Array.from({ length: 20 }, () => world.chat(ollama)));
  const answers = await Promise.all(Array.from({ length: 60 }, () => world.chat(anthropic)));
  t.strictSame([...new Set(answers.map(({ status }) => status))], [502]);
  t.ok(calls() - before <= 80, `${calls() - before} calls for 60 requests`);
  t.match(world.output(), /"failures":20,/, 'it opened at the 20th failure');
  t.strictSame([...new Set((await others).map(({ status }) => status))], [200], 'another provider worked meanwhile');
  const opened = calls();
  for (const stream of [false, true]) {
    const answer = await world.chat(anthropic, { stream });
    t.match(answer, { status: 502, json: { code: 'UPSTREAM_UNREACHABLE', error: /calls to it are paused/ } });
    t.match(answer.headers.get('retry-after'), /^\d+$/);
  }
  t.equal(calls(), opened, 'nobody is asked while it is open');
  for (const wire of FIVE) if (wire !== anthropic) t.equal((await world.chat(wire)).status, 200, wire.name);

  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  world.answer(async (request, res, index) => {
    if (isAnthropic(request)) await held;
    return friendly(request, res, index);
  });
  const probes: Promise<Reply>[] = [];
  while (calls() === opened) {
    const batch = Array.from({ length: 3 }, () => world.chat(anthropic));
    probes.push(...batch);
    await Promise.race([Promise.all(batch), until(() => calls() > opened, 'a call is let through')]);
    await delay(250);
  }
  const refused = await Promise.all(Array.from({ length: 20 }, () => world.chat(anthropic)));
  t.strictSame([...new Set(refused.map(({ status }) => status))], [502], 'while one tries, the others are refused');
  t.equal(calls(), opened + 1, 'one call tries');
  release();
  t.equal((await Promise.all(probes)).filter(({ status }) => status === 200).length, 1, 'and is answered');
  t.equal((await world.chat(anthropic)).status, 200, 'then all are let through again');
  await world.settle(t, 'G114');
});
