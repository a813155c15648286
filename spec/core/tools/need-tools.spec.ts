import t from 'tap';
import { needTools } from '../../../core/tools/need-tools.ts';

t.test('servers of tools are managed where a host manages them, and not by a server of the gateway alone', async (t) => {
  const servers = {} as never;
  const tools = { servers } as never;
  t.equal(needTools({ tools }), servers);
  for (const options of [{}, { tools: {} as never }, { tools, gatewayOnly: true }]) t.throws(() => needTools(options), { code: 'WRONG_STATE' });
});
