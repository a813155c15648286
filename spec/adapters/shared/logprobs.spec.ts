import t, { type Test } from 'tap';
import { createGoogle } from '../../../adapters/google/index.ts';
import { createOllama } from '../../../adapters/ollama/index.ts';
import { createOpenAI } from '../../../adapters/openai/index.ts';
import { logprobsIn } from '../../../adapters/shared/logprobs.ts';
import { type Adapter, createCore } from '../../../core/index.ts';
import { type Answerer, sendJson, startUpstream } from '../../support/upstream.ts';

const LIST = [
  {
    token: 'H\u00fc',
    logprob: -0.5,
    bytes: [72, 195, 188],
    top_logprobs: [
      { token: 'H\u00fc', logprob: -0.5, bytes: null },
      { token: 'Ha', logprob: -1 },
    ],
  },
  { token: '!', logprob: -2 },
];
const READ = [
  {
    token: 'H\u00fc',
    logprob: -0.5,
    bytes: [72, 195, 188],
    topLogprobs: [
      { token: 'H\u00fc', logprob: -0.5 },
      { token: 'Ha', logprob: -1 },
    ],
  },
  { token: '!', logprob: -2 },
];

t.test('a list of tokens is read, and what can not be read is left out', async (t) => {
  t.same(logprobsIn(LIST), [{ type: 'logprobs', logprobs: READ }]);
  for (const odd of [undefined, null, [], {}, [null], [{ token: 7, logprob: -1 }], [{ token: 'x', logprob: 'y' }]]) t.same(logprobsIn(odd), []);
});

async function ask(t: Test, adapter: Adapter, env: (url: string) => Record<string, string>, answer: Answerer, model = 'm') {
  const upstream = await startUpstream(t, answer);
  const core = createCore({ adapters: [adapter], env: env(upstream.url) });
  const config = { logprobs: true, topLogprobs: 2 };
  const request = { adapter: adapter.id, model, messages: [{ role: 'user' as const, content: 'hi' }], config };
  const whole = await core.chat(request);
  let streamed: unknown;
  for await (const event of core.stream(request)) if (event.type === 'done') streamed = event.logprobs;
  return { whole: whole.logprobs, streamed, sent: JSON.parse(upstream.requests[0]?.body ?? 'null') };
}
const isStream = (body: string): boolean => JSON.parse(body).stream === true;

t.test('a server of Chat Completions gives them, whole and streamed', async (t) => {
  const logprobs = { content: LIST };
  const { whole, streamed, sent } = await ask(
    t,
    createOpenAI(),
    (url) => ({ OPENAI_BASE_URL: `${url}/v1` }),
    ({ body }, res) => {
      if (!isStream(body)) return sendJson(res, { choices: [{ message: { content: 'H\u00fc!' }, logprobs, finish_reason: 'stop' }] });
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const entry of LIST) res.write(`data: ${JSON.stringify({ choices: [{ delta: { content: entry.token }, logprobs: { content: [entry] } }] })}\n\n`);
      res.end(`data: ${JSON.stringify({ choices: [{ delta: {}, logprobs: null, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`);
    },
  );
  t.match(sent, { logprobs: true, top_logprobs: 2 });
  t.same([whole, streamed], [READ, READ]);
});

t.test('Gemini gives them in a form of its own', async (t) => {
  const candidate = {
    content: { role: 'model', parts: [{ text: 'H\u00fc!' }] },
    finishReason: 'STOP',
    logprobsResult: {
      chosenCandidates: [
        { token: 'H\u00fc', logProbability: -0.5 },
        { token: '!', logProbability: -2 },
      ],
      topCandidates: [{ candidates: [{ token: 'H\u00fc', logProbability: -0.5 }] }],
    },
  };
  const { whole, streamed, sent } = await ask(
    t,
    createGoogle(),
    (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'k' }),
    ({ path }, res) => {
      if (!path.includes('stream')) return sendJson(res, { candidates: [candidate] });
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(`data: ${JSON.stringify({ candidates: [candidate] })}\n\n`);
    },
    'gemini-2.5-flash',
  );
  t.match(sent, { generationConfig: { responseLogprobs: true, logprobs: 2 } });
  const read = [
    { token: 'H\u00fc', logprob: -0.5, topLogprobs: [{ token: 'H\u00fc', logprob: -0.5 }] },
    { token: '!', logprob: -2 },
  ];
  t.same([whole, streamed], [read, read]);
});

t.test('Ollama gives them with each line', async (t) => {
  const { whole, streamed, sent } = await ask(
    t,
    createOllama(),
    (url) => ({ OLLAMA_BASE_URL: url }),
    ({ body }, res) => {
      const end = { done: true, done_reason: 'stop' };
      if (!isStream(body)) return sendJson(res, { message: { content: 'H\u00fc!' }, logprobs: LIST, ...end });
      for (const entry of LIST) res.write(`${JSON.stringify({ message: { content: entry.token }, logprobs: [entry], done: false })}\n`);
      res.end(`${JSON.stringify({ message: { content: '' }, ...end })}\n`);
    },
  );
  t.match(sent, { logprobs: true, top_logprobs: 2 });
  t.same([whole, streamed], [READ, READ]);
});
