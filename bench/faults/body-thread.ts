// The thread of bodies.ts: a provider that answers a call when it has `holds` of them, and clients that send a body.
import { createServer, type RequestListener, request } from 'node:http';
import { parentPort } from 'node:worker_threads';
import { BODY_CASES, type BodyCase } from './body-cases.ts';

/** What the rig asks for: `count` requests of a case at once, by a provider that answers when it has `holds` of them. */
export interface Order {
  readonly url: string;
  readonly tokens: Readonly<Record<BodyCase['as'], string>>;
  readonly name: string;
  readonly count: number;
  readonly holds: number;
}

/** What the thread says. */
export interface Said {
  readonly port?: number;
  readonly size?: number;
  readonly answers?: readonly string[];
}

const ANSWERS: readonly [path: string, answer: object][] = [
  ['/v1/messages/count_tokens', { input_tokens: 1 }],
  [
    '/v1/messages',
    {
      id: 'x',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'hi' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  ],
  [':countTokens', { totalTokens: 1 }],
  [
    'enerateContent',
    { candidates: [{ content: { parts: [{ text: 'hi' }] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 } },
  ],
  [
    '/converse',
    {
      output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    },
  ],
  ['/api/chat', { model: 'm', message: { role: 'assistant', content: 'hi' }, done: true, done_reason: 'stop', prompt_eval_count: 1, eval_count: 1 }],
  [
    '/responses',
    {
      id: 'r',
      object: 'response',
      status: 'completed',
      model: 'm',
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] }],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  ],
  [
    '/chat/completions',
    {
      id: 'c',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    },
  ],
  ['/embeddings', { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 1, total_tokens: 1 } }],
];

const port = parentPort;
if (port === null) throw new Error('This file is a thread of bodies.ts.');
const say = (said: Said): void => port.postMessage(said);
let holds = 1;
let held: (() => void)[] = [];

const provide: RequestListener = (req, res) => {
  req.resume();
  req.on('end', () => {
    const { url = '' } = req;
    const answer = ANSWERS.find(([path]) => url.includes(path))?.[1] ?? { embeddings: [[1]] };
    held.push(() => {
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify(answer));
    });
    if (held.length < holds) return;
    for (const go of held) go();
    held = [];
  });
};

function send({ url, tokens, name }: Order, body: Buffer): Promise<string> {
  const { path, as, method = 'POST' } = BODY_CASES.get(name) ?? { path: '', as: 'token' as const, method: undefined };
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${tokens[as]}`, 'content-type': 'application/json', 'content-length': body.length };
    const req = request(url + path, { method, agent: false, headers }, (res) => {
      let text = '';
      res.on('data', (chunk) => {
        if (text.length < 300) text += chunk;
      });
      res.on('end', () => resolve(res.statusCode === 200 ? '200' : `${res.statusCode} ${text.slice(0, 160)}`));
    });
    req.on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
    req.end(body);
  });
}

const server = createServer(provide).listen(0, '127.0.0.1', () => {
  const address = server.address();
  say({ port: typeof address === 'object' ? (address?.port ?? 0) : 0 });
});
const bodies = new Map<string, Buffer>();
port.on('message', async (order: Order) => {
  holds = order.holds;
  let body = bodies.get(order.name);
  if (body === undefined) {
    bodies.clear();
    body = Buffer.from(BODY_CASES.get(order.name)?.body() ?? '');
    bodies.set(order.name, body);
  }
  const ready = body;
  say({ size: ready.length });
  say({ answers: await Promise.all(Array.from({ length: order.count }, () => send(order, ready))) });
});
