import { readFileSync } from 'node:fs';
import t from 'tap';
import { RUN_FACTS } from '../../../core/store/run-fact.ts';

t.test('those who follow a run hear all that the bus says of calls of tools and approvals, except the price of a call', async (t) => {
  const documented = [...readFileSync('docs/events.md', 'utf8').matchAll(/^### `?((?:tool|approval)\.[a-z]+)/gm)].map(([, name]) => name);
  t.strictSame(documented.filter((name) => name !== 'tool.billed').sort(), [...RUN_FACTS].sort());
});
