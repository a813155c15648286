import t from 'tap';
import { ANTHROPIC } from '../../../../../transports/http/dialects/anthropic/index.ts';
import { readCounted, readRequest } from '../../../../../transports/http/dialects/anthropic/request.ts';

const body = (fields: object = {}) => ({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], ...fields });

t.test('every setting arrives under its canonical name', async (t) => {
  const request = readRequest(
    body({
      stream: true,
      system: 'Be brief.',
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      stop_sequences: ['END', ''],
      metadata: { user_id: 'u' },
      output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    }),
  );
  t.match(request, { model: 'm', stream: true, warnings: [], echo: { showsThinking: false } });
  t.same(request.chat, {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ],
    tools: [{ name: 'look', parameters: { type: 'object' } }],
    toolChoice: 'required',
    config: {
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      stop: ['END'],
      user: 'u',
      output: { type: 'json_schema', schema: { type: 'object' } },
      reasoning: { effort: 'high' },
      parallelToolCalls: false,
      maxTokens: 100,
    },
  });
});

t.test('thinking is asked for with a budget and a level, so that any model has one of them', async (t) => {
  const reasoning = (fields: object) => readRequest(body(fields)).chat.config?.reasoning;
  t.same(reasoning({ thinking: { type: 'enabled', budget_tokens: 2048 } }), { summary: true, effort: 'low', budgetTokens: 2048 });
  t.same(reasoning({ thinking: { type: 'enabled', budget_tokens: 10_000 } }), { summary: true, effort: 'medium', budgetTokens: 10_000 });
  t.same(reasoning({ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }), { summary: true, effort: 'max' });
  t.same(reasoning({ thinking: { type: 'between_tools' } }), { summary: true });
  t.same(reasoning({ thinking: { type: 'disabled' } }), { effort: 'none' });
  t.equal(reasoning({}), undefined);
  t.equal(readRequest(body({ thinking: { type: 'adaptive' } })).echo.showsThinking, true);
  t.equal(readRequest(body({ thinking: { type: 'disabled' } })).echo.showsThinking, false);
});

t.test('the older name of the output format is taken; another format is ignored with a warning', async (t) => {
  t.match(readRequest(body({ output_format: { type: 'json_schema', schema: { a: 1 } } })).chat.config?.output, { schema: { a: 1 } });
  t.match(readRequest(body({ output_format: { type: 'odd' } })).warnings, [{ field: 'output_format.type' }]);
});

t.test('fields of next month and those of the provider alone are ignored with a warning', async (t) => {
  const { warnings } = readRequest(body({ next: { month: true }, service_tier: 'auto', mcp_servers: [], container: 'c', context_management: {}, speed: null }));
  t.same(
    warnings.map(({ field }) => field),
    ['next', 'mcp_servers', 'container', 'context_management'],
  );
});

t.test('what is wrong is refused by the name of the field', async (t) => {
  for (const [fields, message] of [
    [{ model: '' }, /^model is required/],
    [{ max_tokens: undefined }, /^max_tokens is required/],
    [{ max_tokens: 0 }, /^max_tokens must be/],
    [{ messages: null }, /^messages must have/],
    [{ temperature: 2 }, /^temperature must be/],
    [{ stream: 'yes' }, /^stream must be/],
    [{ thread: { id: 't' } }, /^thread /],
    [{ output_config: { format: { type: 'json_schema' } } }, /^output_config\.format\.schema must be/],
  ] as const) {
    t.throws(() => readRequest(body(fields)), { code: 'INVALID_REQUEST', message });
  }
  t.throws(() => readRequest([]), { code: 'INVALID_REQUEST' });
});

t.test('tokens are counted without a limit', async (t) => {
  t.equal(readCounted(body({ max_tokens: undefined })).chat.config, undefined);
});

t.test("a refusal of the gateway names the client's field", async (t) => {
  const { field } = readRequest(
    body({
      system: 'S',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image', source: { type: 'url', url: 'https://a.example' } },
          ],
        },
      ],
    }),
  );
  t.equal(field?.('messages[1].content[1].url'), 'messages.0.content.1');
  t.equal(field?.('messages[0].content'), 'system');
  t.equal(field?.('config.topK'), 'top_k');
  t.equal(field?.('config.reasoning.budgetTokens'), 'thinking.budget_tokens');
  t.equal(field?.('adapter'), undefined);
});

t.test('the dialect has the path by which providers say that they speak it', async (t) => {
  t.match(ANTHROPIC, { id: 'anthropic', native: { path: '/v1/messages' } });
});
