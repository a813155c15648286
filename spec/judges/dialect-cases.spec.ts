// The numbered cases of the compatible endpoints that depend on both the client's protocol and the provider: each protocol before each of the five providers.
import t from 'tap';
import type { Meaning } from '../conformance/wire.ts';
import { READ_STREAM, READ_WHOLE, toolOf } from '../support/client-readers.ts';
import { CLIENTS, type Client, type Fields, startTranslating } from '../support/dialect-clients.ts';
import type { Answerer } from '../support/upstream.ts';
import { answerWith, bodyOf, PLAIN, WIRES } from '../support/wire-server.ts';

const CALLS: Meaning = {
  text: ['Look'],
  toolCalls: [
    { id: 'call_1', name: 'weather', arguments: { city: 'Oslo', note: 'a "quoted"\nline' } },
    { id: 'call_2', name: 'weather', arguments: { city: 'Rome' } },
  ],
  stop: 'tool_use',
  usage: { input: 12, output: 5 },
};
const ARGUMENTS = CALLS.toolCalls.map((call) => call.arguments);
const SCHEMA = { type: 'object', properties: { city: { type: 'string' }, note: { type: 'string' } } };
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64');
const IMAGE: Readonly<Record<Client['id'], Fields>> = {
  chat: { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}`, detail: 'low' } },
  responses: { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'low' },
  messages: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
};
const DOCUMENT: Readonly<Record<Client['id'], Fields>> = {
  chat: { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } },
  responses: { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
  messages: { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: PDF } },
};

/** A user turn of this one part. */
const turnOf = ({ id }: Client, part: Fields): Fields => ({ [id === 'responses' ? 'input' : 'messages']: [{ role: 'user', content: [part] }] });

const STOPS = { chat: 'tool_calls', responses: 'completed', messages: 'tool_use' } as const;
const LIMITED = { chat: 'length', responses: 'incomplete', messages: 'max_tokens' } as const;

for (const wire of WIRES) {
  for (const client of CLIENTS) {
    const at = `${client.id} before ${wire.name}`;

    t.test(at, async (t) => {
      // Of all cases but the one that makes the provider wait.
      let answerer: Answerer = answerWith(wire);
      const world = await startTranslating(t, wire, (...asked) => answerer(...asked));
      const before = (answer: Answerer): typeof world => {
        answerer = answer;
        return world;
      };

      await t.test(
        `cases 2, 3 and 4: two parallel calls come apart, whole and streamed, id and name come once, and the answer says that it calls (${at})`,
        async (t) => {
          const { call, model } = before(answerWith(wire, CALLS));
          const whole = await call('POST', client.path, { body: client.ask(model, { tools: [toolOf(client, 'weather', SCHEMA)] }) });
          t.equal(whole.status, 200, whole.text);
          const { calls, stop } = READ_WHOLE[client.id](whole.json);
          const streamed = READ_STREAM[client.id](
            (await call('POST', client.path, { body: client.ask(model, { tools: [toolOf(client, 'weather', SCHEMA)], stream: true }) })).text,
          );
          t.equal(stop, STOPS[client.id]);
          for (const seen of [calls, streamed]) {
            t.same(
              seen.map((one) => one.arguments),
              ARGUMENTS,
            );
            t.same(
              seen.map(({ name }) => name),
              ['weather', 'weather'],
            );
            t.equal(new Set(seen.map(({ id }) => id)).size, 2);
          }
        },
      );

      await t.test(`case 12: an image as data arrives (${at})`, async (t) => {
        const { call, model, upstream } = before(answerWith(wire));
        const answer = await call('POST', client.path, { body: client.ask(model, turnOf(client, IMAGE[client.id])) });
        t.equal(answer.status, 200, answer.text);
        t.ok(upstream.requests.at(-1)?.body.includes(PNG));
      });

      await t.test(`case 14: a PDF arrives, or is refused by its place in the client's own request (${at})`, async (t) => {
        const { call, model, upstream } = before(answerWith(wire));
        const answer = await call('POST', client.path, { body: client.ask(model, turnOf(client, DOCUMENT[client.id])) });
        if (wire.name !== 'ollama') {
          t.equal(answer.status, 200, answer.text);
          t.ok(upstream.requests.at(-1)?.body.includes(PDF));
        } else {
          t.equal(answer.status, 400);
          t.match(answer.text, /(?:messages|input)\W0\W{1,2}content\W0\W* is not text/);
        }
      });

      await t.test(`case 15: a stream that ends before its end mark is an error without an end mark (${at})`, async (t) => {
        const { frames, endFrames, type } = wire.stream(PLAIN);
        const { call, model } = before((_request, res) => {
          res.writeHead(200, { 'content-type': type });
          res.end(Buffer.concat(frames.slice(0, -endFrames)));
        });
        const { text } = await call('POST', client.path, { body: client.ask(model, { stream: true }) });
        t.notOk(client.hasEndMark(text), text);
        t.ok(client.hasError(text) || text.startsWith('{'), text);
      });

      await t.test(`case 16: a refusal for now keeps its status and says when to come back (${at})`, async (t) => {
        const limited = wire.errors.find(({ code, status }) => code === 'UPSTREAM_RATE_LIMITED' && status === 429);
        if (limited === undefined) return t.fail('the wire has no rate limit');
        const { call, model } = await startTranslating(t, wire, (_request, res) => {
          res.writeHead(429, { 'content-type': 'application/json', ...limited.headers, 'retry-after': '7' });
          res.end(limited.body);
        });
        for (const stream of [false, true])
          t.match(await call('POST', client.path, { body: client.ask(model, { stream }) }), { status: 429, headers: { 'retry-after': '7' } });
      });

      await t.test(`case 21: an answer at the limit of tokens says so in the client's words, with its usage (${at})`, async (t) => {
        const { call, model } = before(answerWith(wire, { ...PLAIN, stop: 'max_tokens' }));
        const { json } = await call('POST', client.path, { body: client.ask(model) });
        t.equal(READ_WHOLE[client.id](json).stop, LIMITED[client.id]);
        t.match(json['usage'], client.id === 'chat' ? { prompt_tokens: 12, completion_tokens: 5 } : { input_tokens: 12, output_tokens: 5 });
        const { text } = await call('POST', client.path, { body: client.ask(model, { stream: true }) });
        t.ok(client.hasEndMark(text));
        t.match(text, client.id === 'responses' ? /event: response\.incomplete/ : new RegExp(`"(finish|stop)_reason":"${LIMITED[client.id]}"`));
      });

      await t.test(`cases 8 and 31: system texts anywhere among the turns reach the provider in their order (${at})`, async (t) => {
        const { call, model, upstream } = before(answerWith(wire));
        const turns = [
          { role: client.id === 'messages' ? 'system' : 'developer', content: 'FIRST' },
          { role: 'user', content: 'one' },
          { role: 'assistant', content: 'two' },
          { role: 'system', content: 'SECOND' },
          { role: 'user', content: 'three' },
        ];
        const answer = await call('POST', client.path, { body: client.ask(model, { [client.id === 'responses' ? 'input' : 'messages']: turns }) });
        t.equal(answer.status, 200, answer.text);
        const sent = upstream.requests.at(-1)?.body ?? '';
        t.ok(sent.includes('FIRST') && sent.includes('SECOND'));
        const sentRequest = upstream.requests.at(-1);
        if (sentRequest !== undefined)
          t.same(
            wire.readRequest(sentRequest).texts.filter((text) => !/FIRST|SECOND/.test(text)),
            ['user: one', 'assistant: two', 'user: three'],
          );
      });

      await t.test(`cases 25, 26 and 33: empty lists, null and fields of tomorrow do no harm (${at})`, async (t) => {
        const { call, model, upstream } = before(answerWith(wire));
        const odd = {
          tools: [],
          metadata: null,
          temperature: null,
          field_of_tomorrow: { deep: [null] },
          ...(client.id === 'responses' && { text: {}, include: [] }),
        };
        const answer = await call('POST', `${client.path}?beta=true`, {
          headers: { 'anthropic-beta': 'of-tomorrow-2030-01-01', 'anthropic-version': '2026-10-21' },
          body: client.ask(model, odd),
        });
        t.equal(answer.status, 200, answer.text);
        t.notMatch(JSON.stringify(bodyOf(upstream.requests.at(-1))), /field_of_tomorrow/);
      });
    });
  }
}

for (const client of CLIENTS) {
  t.test(`what is more than a request may have is refused by the client's own field and the limit (${client.id})`, async (t) => {
    const [wire] = WIRES;
    if (wire === undefined) return t.fail('there is no wire');
    const { call, model } = await startTranslating(t, wire, answerWith(wire));
    const many = (count: number, make: (index: number) => Fields): Fields[] => Array.from({ length: count }, (_, index) => make(index));
    const turns = client.id === 'responses' ? 'input' : 'messages';
    const text = { type: client.id === 'responses' ? 'input_text' : 'text', text: 'x' };
    const named = (index: number): Fields => toolOf(client, `f${index}`, SCHEMA);
    const calls: Readonly<Record<Client['id'], () => Fields[]>> = {
      chat: () => [{ role: 'assistant', tool_calls: many(257, (n) => ({ id: `c${n}`, type: 'function', function: { name: 'weather', arguments: '{}' } })) }],
      responses: () => many(257, (n) => ({ type: 'function_call', call_id: `c${n}`, name: 'weather', arguments: '{}' })),
      messages: () => [{ role: 'assistant', content: many(257, (n) => ({ type: 'tool_use', id: `c${n}`, name: 'weather', input: {} })) }],
    };
    const user = { role: 'user', content: 'hi' };
    const refusals: [Fields, RegExp][] = [
      [
        { [turns]: [{ role: 'user', content: many(1025, (index) => (index === 0 ? IMAGE[client.id] : text)) }] },
        new RegExp(`${turns}.* must not have more than 1024 items`),
      ],
      [{ [turns]: [user, ...calls[client.id](), user] }, new RegExp(`${turns}.* must not have more than 256 items`)],
      [{ tools: many(1025, named) }, /tools must not have more than 1024 items/],
    ];
    for (const [fields, message] of refusals) {
      const answer = await call('POST', client.path, { body: client.ask(model, fields) });
      t.equal(answer.status, 400);
      t.match(answer.text, message);
    }
  });
}
