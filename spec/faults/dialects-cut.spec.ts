// The compatible endpoints under providers that break off at each byte: never a 500, never a stream that looks whole and isn't.
import t from 'tap';
import type { Meaning, Wire } from '../conformance/wire.ts';
import { sample } from '../support/sweep.ts';
import type { Answerer } from '../support/upstream.ts';
import { startWireServer, WIRES, type WireServer } from '../support/wire-server.ts';

const ANSWER: Meaning = {
  text: ['Grüße ', 'from ✓ 🙂', '!'],
  toolCalls: [
    { id: 'call_1', name: 'look', arguments: { at: 'ü"\\' } },
    { id: 'call_2', name: 'look', arguments: {} },
  ],
  stop: 'tool_use',
  usage: { input: 12, output: 5 },
};

interface Client {
  readonly name: string;
  readonly path: string;
  readonly end: RegExp;
  readonly error: RegExp;
  body(model: string, stream: boolean): Record<string, unknown>;
}

/** `npm test` cuts at every 70th byte, for one client after the other. */
const CLOSER = 70;
const STEP = 3 * CLOSER + 1;

const schema = { type: 'object', properties: { at: { type: 'string' } } };
const CLIENTS: readonly Client[] = [
  {
    name: 'chat',
    path: '/v1/chat/completions',
    end: /^data: \[DONE\]$|"finish_reason":"/m,
    error: /^data: \{"error":/m,
    body: (model, stream) => ({
      model,
      stream,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'a', content: 'seen' },
        { role: 'user', content: 'and?' },
      ],
      tools: [{ type: 'function', function: { name: 'look', parameters: schema, strict: null } }],
      tool_choice: 'auto',
      temperature: 0.5,
      max_completion_tokens: 100,
      stop: ['END'],
      response_format: { type: 'text' },
      stream_options: { include_usage: true },
    }),
  },
  {
    name: 'responses',
    path: '/v1/responses',
    end: /^event: response\.(?:completed|incomplete)$/m,
    error: /^event: (?:error|response\.failed)$/m,
    body: (model, stream) => ({
      model,
      stream,
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'bh1.e30' },
        { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'seen' },
        { role: 'user', content: 'and?' },
      ],
      tools: [{ type: 'function', name: 'look', parameters: schema, strict: true }, { type: 'web_search' }],
      text: { format: { type: 'text' } },
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'low' },
      max_output_tokens: 100,
    }),
  },
  {
    name: 'messages',
    path: '/v1/messages',
    end: /^event: message_stop$/m,
    error: /^event: error$/m,
    body: (model, stream) => ({
      model,
      stream,
      max_tokens: 2000,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: '' },
            { type: 'tool_use', id: 'a', name: 'look', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'seen' }] },
            { type: 'text', text: 'and?' },
          ],
        },
      ],
      tools: [{ name: 'look', input_schema: schema }],
      tool_choice: { type: 'auto' },
      thinking: { type: 'adaptive' },
      metadata: { user_id: 'u' },
    }),
  },
];

const isStream = (path: string, body: string): boolean => /stream/i.test(path) || /"stream":true/.test(body);
const modelOf = (wire: Wire): string => `${wire.adapter}/${wire.model}`;

/** The answer of the provider, with `change` made to the bytes of a stream. */
function answering(wire: Wire, change: (bytes: Buffer) => { readonly pieces: readonly Buffer[]; readonly breaks?: boolean }): Answerer {
  return async ({ path, body, method }, res) => {
    if (method === 'GET') return void res.end('{}');
    if (!isStream(path, body)) {
      const { type, body: whole } = wire.whole(ANSWER);
      return void res.writeHead(200, { 'content-type': type }).end(whole);
    }
    const { type, frames } = wire.stream(ANSWER);
    const { pieces, breaks = false } = change(Buffer.concat(frames));
    res.writeHead(200, { 'content-type': type });
    for (const piece of pieces) {
      res.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (breaks) res.destroy();
    else res.end();
  };
}

const ask = (server: WireServer, { path }: Client, body: unknown) => server.call('POST', path, { body, headers: { 'anthropic-version': '2023-06-01' } });

for (const wire of WIRES) {
  t.test(`${wire.name}: a stream that is cut anywhere never looks whole, in each protocol and however the connection ends`, async (t) => {
    const { frames, endFrames } = wire.stream(ANSWER);
    const bytes = Buffer.concat(frames);
    const endsAt = Buffer.concat(frames.slice(0, frames.length - endFrames)).length;
    let cut = 0;
    let breaks = false;
    const server = await startWireServer(
      t,
      wire,
      answering(wire, (all) => ({ pieces: [all.subarray(0, cut)], breaks })),
    );
    const places = Array.from({ length: endsAt }, (_, place) => place);
    for (const [turn, client] of CLIENTS.entries()) {
      // Each client has other places than the others, and the last one.
      for (const place of new Set([...sample(places, STEP, turn * CLOSER), endsAt - 1])) {
        cut = place;
        breaks = place % 2 === 1;
        const { status, text } = await ask(server, client, client.body(modelOf(wire), true));
        if (status === 200) {
          t.notMatch(text, client.end, `${client.name} cut at ${place} of ${bytes.length}`);
          t.match(text, client.error, `${client.name} cut at ${place} says so`);
        } else t.ok(status >= 400 && status !== 500, `${client.name} cut at ${place}: ${status}`);
      }
    }
  });

  t.test(`${wire.name}: the pieces in which a stream arrives make no difference`, async (t) => {
    let size = 0;
    const split = (bytes: Buffer): Buffer[] =>
      Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
    const server = await startWireServer(
      t,
      wire,
      answering(wire, (bytes) => ({ pieces: size === 0 ? [bytes] : split(bytes) })),
    );
    for (const [turn, client] of CLIENTS.entries()) {
      size = 0;
      const plain = words(await ask(server, client, client.body(modelOf(wire), true)));
      t.match(plain, client.end);
      for (size of sample([1, 3, 64, 1000], 4, turn))
        t.equal(words(await ask(server, client, client.body(modelOf(wire), true))).length, plain.length, `${client.name}, ${size} bytes at a time`);
    }
  });
}

/** What differs from answer to answer is taken out. */
function words({ text }: { readonly text: string }): string {
  return text
    .replace(/: keep-alive\n\n/g, '')
    .replace(/(?:chatcmpl-|resp_|msg_|rs_|fc_|ctc_|req_|call_)[a-zA-Z0-9_-]+/g, 'id')
    .replace(/"(?:created|created_at|completed_at)":\d+/g, '"time"');
}
