import t from 'tap';
import type { Notes } from '../../../../../transports/http/dialects/anthropic/content.ts';
import { readChoice, readTools } from '../../../../../transports/http/dialects/anthropic/tools.ts';
import { ToolNames } from '../../../../../transports/http/dialects/shared/conversation.ts';
import { Sources } from '../../../../../transports/http/dialects/shared/sources.ts';

const notes = (): Notes => ({ warnings: [], sources: new Sources() });

t.test("the client's own tools are taken, with any further field; the provider's are left out with a warning", async (t) => {
  const own = notes();
  const schema = { type: 'object', properties: {} };
  const { tools, left } = readTools(
    {
      tools: [
        {
          name: 'look',
          description: 'Looks',
          input_schema: schema,
          strict: true,
          eager_input_streaming: true,
          cache_control: { type: 'ephemeral', ttl: '1h' },
        },
        { type: 'custom', name: 'mcp.server/do', input_schema: schema, defer_loading: true },
        { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
        { name: 'bare' },
      ],
    },
    new ToolNames(),
    own,
  );
  t.same(tools, [{ name: 'look', description: 'Looks', parameters: schema, cache: '1h' }, { name: 't_mcp_server_do', parameters: schema }, { name: 'bare' }]);
  t.same([...left], ['web_search']);
  t.match(own.warnings, [{ field: 'tools.2' }]);
  t.throws(() => readTools({ tools: [{}] }, new ToolNames(), notes()), { message: /^tools\.0\.name is required/ });
});

t.test('each choice of tools has its canonical one', async (t) => {
  const choose = (tool_choice: unknown, left: string[] = []) => readChoice({ tool_choice }, new ToolNames(), new Set(left));
  t.match(choose(undefined), {});
  t.match(choose({ type: 'auto', disable_parallel_tool_use: true }), { parallelToolCalls: false });
  t.match(choose({ type: 'any' }), { toolChoice: 'required' });
  t.match(choose({ type: 'none' }), { toolChoice: 'none' });
  t.match(choose({ type: 'tool', name: 'a.b' }), { toolChoice: { name: 't_a_b' } });
  t.throws(() => choose({ type: 'tool' }), { message: /^tool_choice\.name is required/ });
  t.throws(() => choose({ type: 'odd' }), { message: /^tool_choice\.type must be/ });
  t.throws(() => choose({ type: 'tool', name: 'web_search' }, ['web_search']), { message: /^tool_choice\.name names a tool that the provider runs itself/ });
});
