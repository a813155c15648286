import t from 'tap';
import type { StopReason } from '../../../../../core/index.ts';
import { readRequest } from '../../../../../transports/http/dialects/openai-responses/request.ts';
import { endOf, responseText } from '../../../../../transports/http/dialects/openai-responses/response.ts';

const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const done = (stopReason: StopReason) => ({ usage: USAGE, stopReason });

t.test('an answer that was cut off is incomplete', async (t) => {
  for (const stopReason of ['end_turn', 'stop_sequence', 'tool_use', 'unknown'] as const) t.same(endOf(done(stopReason)), { status: 'completed' }, stopReason);
  t.match(endOf(done('max_tokens')), { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
  t.match(endOf(done('tool_use'), true), { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
  for (const stopReason of ['refusal', 'content_filter'] as const) t.match(endOf(done(stopReason)), { incomplete_details: { reason: 'content_filter' } });
});

t.test('only a completed response has a time of completion', async (t) => {
  const context = { requestId: 'req_1', created: 5, now: () => 8, request: readRequest({ model: 'm', input: 'hi' }) };
  t.match(JSON.parse(responseText(context, { status: 'completed', usage: USAGE })), {
    id: 'resp_1',
    created_at: 5,
    completed_at: 8,
    usage: { total_tokens: 2 },
  });
  t.match(JSON.parse(responseText(context, { status: 'in_progress' })), { created_at: 5, completed_at: null, usage: null, output: [] });
});
