import t from 'tap';
import { compile } from '../../../../../core/index.ts';
import { TOOLS } from '../../../../../transports/http/handlers/mcp/tools.ts';

t.test('no tool approves, configures, starts or deletes; all but one only read', async (t) => {
  t.strictSame(Object.keys(TOOLS), ['list_blocks', 'send_message', 'read_answer', 'read_chat', 'why']);
  for (const { name, annotations } of Object.values(TOOLS)) {
    t.equal(annotations.readOnlyHint, name !== 'send_message', name);
    t.equal(annotations.destructiveHint, false, name);
  }
});

t.test('each tool is known under its name, takes nothing unknown, and says what it returns', async (t) => {
  for (const [name, tool] of Object.entries(TOOLS)) {
    t.equal(tool.name, name);
    const check: (value: unknown) => void = compile(tool.inputSchema);
    t.throws(() => check({ block: 'ada', message: 'x', messageId: 'x', unknown: 1 }), { code: 'INVALID_REQUEST' }, name);
    t.equal(tool.outputSchema.type, 'object');
  }
});
