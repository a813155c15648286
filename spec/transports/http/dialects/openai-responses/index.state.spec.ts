// Case 27 with a provider that binds its state to the exact answer: thinking goes out with Responses, comes back with the client's items, and reaches
// the same model only.
import OpenAI from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import t from 'tap';
import { createAnthropic } from '../../../../../adapters/anthropic/index.ts';
import { startServer } from '../../../../support/server.ts';
import { type Answerer, sendJson, startUpstream } from '../../../../support/upstream.ts';

const BLOCKS = [
  { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
  { type: 'text', text: 'Let me look' },
  { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } },
  { type: 'text', text: ' twice.' },
  { type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: { city: 'Rome' } },
];
const USAGE = { input_tokens: 3, output_tokens: 2 };
const TOOLS = [{ type: 'function', name: 'get_weather', parameters: { type: 'object' }, strict: null }] as const;
const MODEL = 'anthropic/claude-sonnet-4-5';

const answer: Answerer = ({ body }, res) => {
  const { stream } = JSON.parse(body) as { stream?: boolean };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_reason: 'tool_use', stop_sequence: null, usage: USAGE };
  if (stream !== true) return sendJson(res, { ...message, content: BLOCKS });
  const frame = (data: { type: string; [field: string]: unknown }): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write(frame({ type: 'message_start', message: { ...message, content: [], stop_reason: null } }));
  for (const [index, block] of BLOCKS.entries()) {
    const empty = {
      ...block,
      ...('thinking' in block && { thinking: '', signature: '' }),
      ...('text' in block && { text: '' }),
      ...('input' in block && { input: {} }),
    };
    res.write(frame({ type: 'content_block_start', index, content_block: empty }));
    const deltas = [
      'thinking' in block && { type: 'thinking_delta', thinking: block.thinking },
      'signature' in block && { type: 'signature_delta', signature: block.signature },
      'text' in block && { type: 'text_delta', text: block.text },
      'input' in block && { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
    ];
    for (const delta of deltas.filter(Boolean)) res.write(frame({ type: 'content_block_delta', index, delta }));
    res.write(frame({ type: 'content_block_stop', index }));
  }
  res.write(frame({ type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: USAGE }));
  res.end(frame({ type: 'message_stop' }));
};

t.test('case 27: thinking comes back to its model as it was, and to no other', async (t) => {
  const upstream = await startUpstream(t, answer);
  const env = { ANTHROPIC_BASE_URL: upstream.url, ANTHROPIC_API_KEY: 'sk-ant-canary-0123456789' };
  const server = await startServer(t, { adapters: [createAnthropic()], env, retries: 0 });
  const client = new OpenAI({ apiKey: server.token, baseURL: `${server.url}/v1`, maxRetries: 0 });
  const ask = { model: MODEL, tools: [...TOOLS], include: ['reasoning.encrypted_content' as const], reasoning: { effort: 'low' as const } };
  const start: ResponseInputItem[] = [{ role: 'user', content: 'weather?' }];
  const sent = (): unknown[] => (JSON.parse(upstream.requests.at(-1)?.body ?? '') as { messages: unknown[] }).messages;
  const first = await client.responses.create({ ...ask, input: start });
  const streamed = await client.responses.stream({ ...ask, input: start }).finalResponse();
  for (const { output } of [first, streamed]) {
    const calls = output.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []));
    const results = calls.map((call_id): ResponseInputItem => ({ type: 'function_call_output', call_id, output: '3 C' }));
    const input = [...start, ...(output as ResponseInputItem[]), ...results];
    await client.responses.create({ ...ask, input });
    t.match(sent()[1], { role: 'assistant', content: BLOCKS }, 'every block, in its order');
    const other = await client.responses.create({ ...ask, model: 'anthropic/claude-opus-4-5', input }).withResponse();
    t.equal(other.response.status, 200);
    t.ok(other.response.headers.get('x-blockhouse-warnings'));
    t.notMatch(JSON.stringify(sent()), /c2ln/);
  }
});
