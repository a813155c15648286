// The built-in tools that read, without a run.
import t from 'tap';
import { findToolDefinition, readResultDefinition } from '../../../../core/tools/builtin/definitions.ts';
import { readOn } from '../../../../core/tools/builtin/read-result.ts';

t.test('what is read on fits into its room, and says where the text ends', async (t) => {
  t.equal(readOn('abcdef', { ref: '1.1', offset: 2 }, 100), '(Characters 2 to 6 of 6.)\ncdef');
  t.equal(readOn('abc', { ref: '1.1', offset: 3 }, 100), '(The result 1.1 has 3 characters.)');
  const part = readOn('é'.repeat(10_000), { ref: '1.1', limit: 9000 }, 260);
  t.match(part, /^\(Characters 0 to 29\d of 10,000; offset 29\d reads on\.\)/);
  t.match(readOn('x.y'.repeat(30), { ref: '1.1', find: 'x.y' }, 100), /only the first 20 are shown/);
  t.match(readOn('x-y', { ref: '1.1', find: 'x.y' }, 100), /"x\.y" is not in the result/);
});

t.test('the pin of a built-in tool is of its name and schema, not of what its description lists', async (t) => {
  t.equal(findToolDefinition([]).pin, findToolDefinition([readResultDefinition]).pin);
  t.match(findToolDefinition([]).description, /to be found: none\.$/);
  t.not(findToolDefinition([]).pin, readResultDefinition.pin);
});
