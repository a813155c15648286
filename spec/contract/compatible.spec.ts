// Real bodies and real frames of the protocols that clients speak, against the published document: nothing is missing or undescribed, what the document
// requires came always, and what came always is required.
import t from 'tap';
import type { Meaning } from '../conformance/wire.ts';
import { CLIENTS, type Fields, startTranslating } from '../support/dialect-clients.ts';
import { sample } from '../support/sweep.ts';
import { type Answerer, sendJson } from '../support/upstream.ts';
import { answerWith, PLAIN, WIRES } from '../support/wire-server.ts';
import { faults, pointerTo, published } from './document.ts';

const CALLS = [
  { id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } },
  { id: 'call_2', name: 'weather', arguments: { city: 'Rome' } },
];
const MEANINGS: readonly Meaning[] = [
  PLAIN,
  { ...PLAIN, text: [] },
  { ...PLAIN, stop: 'max_tokens' },
  { ...PLAIN, stop: 'content_filter' },
  {
    ...PLAIN,
    reasoning: { text: ['Hm', '.'], state: 'c3RhdGU=' },
    toolCalls: CALLS,
    stop: 'tool_use',
    usage: { input: 12, output: 5, cacheRead: 3, reasoning: 2 },
  },
  { ...PLAIN, text: [], toolCalls: CALLS.slice(0, 1), stop: 'tool_use' },
  { ...PLAIN, toolCalls: [{ id: 'call_1', name: 'run', arguments: { input: 'ls' } }], stop: 'tool_use' },
];
const TOOL = { name: 'weather', description: 'Weather', parameters: { type: 'object' } };
const USER = [{ role: 'user', content: 'hi' }];
/** Requests by path; each also as a stream. */
const REQUESTS: Readonly<Record<string, Fields>> = {
  '/v1/chat/completions': {
    messages: USER,
    tools: [
      { type: 'function', function: TOOL },
      { type: 'custom', custom: { name: 'run' } },
    ],
    stream_options: { include_usage: true },
  },
  '/v1/completions': { prompt: 'hi', stream_options: { include_usage: true } },
  '/v1/responses': {
    input: USER,
    tools: [
      { type: 'function', ...TOOL },
      { type: 'custom', name: 'run' },
    ],
    include: ['reasoning.encrypted_content'],
  },
  '/v1/messages': {
    messages: USER,
    max_tokens: 4000,
    thinking: { type: 'enabled', budget_tokens: 1024 },
    tools: [{ name: 'weather', input_schema: { type: 'object' } }],
  },
  '/ollama/api/chat': { messages: USER, think: true, tools: [{ type: 'function', function: TOOL }] },
  '/ollama/api/generate': { prompt: 'hi', think: true },
};
const LINES = 'application/x-ndjson';
const EVENTS = 'text/event-stream';

type Shape = Readonly<Record<string, unknown>>;

/** A frame as the document describes it: the lines of the event, with JSON where there is some. */
function frameOf(block: string): Fields {
  const event = /^event: (.*)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1] ?? '';
  return { ...(event !== undefined && { event }), data: data.startsWith('{') ? JSON.parse(data) : data };
}

const framesIn = (text: string, type: string): unknown[] =>
  type === LINES
    ? text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : text
        .split('\n\n')
        .filter((block) => block !== '' && !block.startsWith(':'))
        .map(frameOf);

/** How often each object schema was met, and each of its members. */
const met = new Map<string, { count: number; readonly members: Map<string, number> }>();

function resolved(at: string, schema: Shape): readonly [string, Shape] {
  const given = schema['$ref'];
  if (typeof given !== 'string') return [at, schema];
  const pointer = given.slice(1);
  return [pointer, published.components.schemas[pointer.split('/').at(-1) ?? ''] as Shape];
}

/** Counts what a value has of the schema at this pointer, which it fits. */
function count(given: string, schema: Shape, value: unknown): void {
  const [at, shape] = resolved(given, schema);
  for (const kind of ['oneOf', 'anyOf'] as const) {
    const choices = (shape[kind] ?? []) as Shape[];
    const fit = choices.findIndex((_choice, index) => faults(`${at}/${kind}/${index}`, value).length === 0);
    if (fit >= 0) count(`${at}/${kind}/${fit}`, choices[fit] as Shape, value);
  }
  if (Array.isArray(value)) for (const item of value) count(`${at}/items`, (shape['items'] ?? {}) as Shape, item);
  const properties = shape['properties'] as Readonly<Record<string, Shape>> | undefined;
  if (properties === undefined || typeof value !== 'object' || value === null) return;
  const seen = met.get(at) ?? { count: 0, members: new Map<string, number>() };
  met.set(at, seen);
  seen.count += 1;
  for (const [name, part] of Object.entries(value)) {
    seen.members.set(name, (seen.members.get(name) ?? 0) + 1);
    if (properties[name] !== undefined) count(`${at}/properties/${name}`, properties[name], part);
  }
}

function schemaAt(pointer: string): Shape {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.reduce<Shape>((value, step) => value[step] as Shape, published as unknown as Shape);
}

for (const [turn, wire] of WIRES.entries()) {
  t.test(`real answers and frames are what the document says, before ${wire.name}`, async (t) => {
    let answer: Answerer = answerWith(wire);
    const { call, model } = await startTranslating(t, wire, (...sent) => answer(...sent));
    const judge = async (path: string, body: Fields, status = 200) => {
      const stream = body['stream'] === true && status === 200;
      const got = await call('POST', path, { body: { model, ...body } });
      t.equal(got.status, status, got.text);
      const type = String(got.headers['content-type']).split(';')[0] ?? '';
      t.equal(type, stream ? (path.startsWith('/ollama') ? LINES : EVENTS) : 'application/json');
      const pointer = pointerTo('paths', path, 'post', 'responses', String(status), 'content', type, 'schema');
      for (const value of stream ? framesIn(got.text, type) : [got.json]) {
        t.strictSame(faults(pointer, value), [], `${path} ${JSON.stringify(value).slice(0, 160)}`);
        if (status === 200) count(pointer, schemaAt(pointer), value);
      }
    };
    for (const [path, body] of Object.entries(REQUESTS)) {
      for (const meaning of sample(MEANINGS, 2, turn)) {
        answer = answerWith(wire, meaning);
        await judge(path, { ...body, stream: false, stream_options: undefined });
        await judge(path, { ...body, stream: true });
      }
      answer = (_request, res) => {
        const { frames, endFrames, type } = wire.stream(PLAIN);
        res.writeHead(200, { 'content-type': type });
        res.end(Buffer.concat(frames.slice(0, -endFrames)));
      };
      await judge(path, { ...body, stream: true });
      answer = (_request, res) => sendJson(res, { error: { message: 'Busy', type: 'overloaded_error' } }, 500);
      await judge(path, { ...body, stream: false }, path === '/v1/messages' ? 529 : 503);
    }
  });
}

t.test('what the document requires of a request is what the server requires', async (t) => {
  const wire = WIRES.find(({ name }) => name === 'ollama');
  if (wire === undefined) return t.fail('no such wire');
  const { call, model } = await startTranslating(t, wire, answerWith(wire));
  for (const [path, body] of Object.entries(REQUESTS)) {
    const pointer = pointerTo('paths', path, 'post', 'requestBody', 'content', 'application/json', 'schema');
    const [, schema] = resolved(pointer, schemaAt(pointer));
    const whole: Fields = { model, ...body, stream: false, stream_options: undefined };
    t.strictSame(faults(pointer, JSON.parse(JSON.stringify(whole))), [], path);
    for (const name of schema['required'] as string[]) {
      const { [name]: _left, ...rest } = whole;
      t.equal((await call('POST', path, { body: rest })).status, 400, `${path} without ${name}`);
    }
    const least = Object.fromEntries((schema['required'] as string[]).map((name) => [name, whole[name]]));
    t.equal((await call('POST', path, { body: least })).status, 200, `${path} with no more than it requires`);
  }
  t.equal(CLIENTS.length, 3);
});

t.test('what came always is required', async (t) => {
  t.ok(met.size > 30, 'enough was seen');
  for (const [pointer, { count: times, members }] of met) {
    const required = (schemaAt(pointer)['required'] ?? []) as string[];
    const always = [...members].flatMap(([name, often]) => (often === times ? [name] : []));
    t.strictSame([...required].sort(), times === 1 ? [...required].sort() : always.sort(), pointer);
  }
});
