import t from 'tap';
import type { Warning } from '../../../../../core/index.ts';
import { Toolbox } from '../../../../../transports/http/dialects/openai-responses/tools.ts';
import { Sources } from '../../../../../transports/http/dialects/shared/sources.ts';

const fn = (name: string) => ({ type: 'function', name });
function boxOf(tools: unknown[]) {
  const warnings: Warning[] = [];
  return { box: new Toolbox([{ tools, path: 'tools' }], { warnings, sources: new Sources() }), warnings };
}
const namesOf = (tools: readonly { name?: unknown }[] | undefined) => tools?.map(({ name }) => name);

t.test('a tool of a namespace keeps its name where no other tool has it', async (t) => {
  const { box } = boxOf([fn('find'), { type: 'namespace', name: 'crm', tools: [fn('find'), fn('merge')] }, fn('crm_find')]);
  t.same(namesOf(box.tools), ['find', 'crm_find', 'merge', 'crm_find_2']);
  for (const tool of box.tools) {
    const { name, namespace } = box.clientToolOf(tool.name);
    t.equal(box.oursOf(name, namespace), tool.name, 'there and back');
  }
  t.equal(box.oursOf('merge'), 'merge', 'also without its namespace');
});

t.test('a name that is used twice is left out with a warning', async (t) => {
  const { box, warnings } = boxOf([fn('a'), fn('a')]);
  t.same(namesOf(box.tools), ['a']);
  t.match(warnings, [{ field: 'tools[1].name' }]);
});

t.test('a tool that only the history has is named there and back', async (t) => {
  const { box } = boxOf([]);
  t.equal(box.clientToolOf(box.oursOf('mcp.git/status')).name, 'mcp.git/status');
});

t.test('a custom tool is one that takes a text, whose description names the grammar of that text', async (t) => {
  const { box } = boxOf([
    { type: 'custom', name: 'run', description: 'Runs code', format: { type: 'grammar', syntax: 'lark', definition: 'start: X' } },
    { type: 'custom', name: 'say' },
  ]);
  const parameters = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };
  t.match(box.tools, [
    { name: 'run', description: /^Runs code\n\n.*\nstart: X$/, parameters },
    { name: 'say', parameters },
  ]);
});

t.test('a choice is one of the tools, some of them, or none', async (t) => {
  const { box } = boxOf([fn('a'), fn('b'), { type: 'custom', name: 'c' }]);
  const all = ['a', 'b', 'c'];
  for (const [choice, toolChoice, tools] of [
    [null, undefined, all],
    ['auto', undefined, all],
    ['none', 'none', all],
    ['required', 'required', all],
    [fn('b'), { name: 'b' }, all],
    [{ type: 'custom', name: 'c' }, { name: 'c' }, all],
    [{ type: 'allowed_tools', mode: 'required', tools: [fn('b'), { type: 'mcp' }] }, 'required', ['b']],
    [{ type: 'allowed_tools', mode: 'auto', tools: [fn('b')] }, undefined, ['b']],
    [{ type: 'allowed_tools', mode: 'auto', tools: [] }, 'none', all],
  ] as const) {
    const chosen = box.choose(choice);
    t.same([chosen.toolChoice, chosen.tools?.map((tool) => ('function' in tool ? tool.function : tool).name)], [toolChoice, tools], JSON.stringify(choice));
  }
  for (const choice of ['any', 5, { type: 'web_search' }, { type: 'function' }, { type: 'allowed_tools', mode: 'required', tools: [] }])
    t.throws(() => box.choose(choice), /^tool_choice /, JSON.stringify(choice));
});

t.test('what is no tool is refused by its place', async (t) => {
  t.throws(() => boxOf([null]), /^tools\[0\] must be an object/);
  t.throws(() => boxOf([{ type: 'function' }]), /^tools\[0\]\.name is required/);
  t.throws(() => boxOf([{ type: 'namespace', name: 'a', tools: [{ type: 'custom' }] }]), /^tools\[0\]\.tools\[0\]\.name is required/);
});
