import t from 'tap';
import { repeatedMembers } from '../../../../../transports/http/dialects/openai-responses/echo.ts';

const repeated = (body: Record<string, unknown>) => JSON.parse(`{${repeatedMembers(body)}}`) as Record<string, unknown>;

t.test('what a request does not say has the value that OpenAI gives', async (t) => {
  const plain = repeated({});
  t.match(plain, {
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    text: { format: { type: 'text' } },
    reasoning: { effort: null, summary: null },
    metadata: {},
  });
  t.same(repeated({ temperature: null, tools: null, text: null, reasoning: null, metadata: null }), plain);
});

t.test('functions have all their fields, and other tools are as they came', async (t) => {
  t.same(repeated({ tools: [{ name: 'f' }, { type: 'web_search' }, { type: 'custom', name: 'c' }] })['tools'], [
    { type: 'function', name: 'f', description: null, parameters: null, strict: null },
    { type: 'web_search' },
    { type: 'custom', name: 'c' },
  ]);
});
