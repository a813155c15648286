import t from 'tap';
import { Api } from '../../../cli/client/api.ts';
import { Client, findServer } from '../../../cli/client/client.ts';
import { endKey, renewKey, takeKey } from '../../../cli/client/launch-key.ts';
import { openDesk } from '../run.ts';

t.test('runs of a program take the first name that is free, and give it back', async (t) => {
  const { workspace } = await openDesk(t);
  const api = new Api(new Client(await findServer(workspace, 'serve'), new AbortController().signal));
  const names = async (): Promise<string[]> => (await api.keys()).keys.map(({ name }) => name);
  const runs = await Promise.all(['My Agent!', 'My Agent!', '§§'].map((program) => takeKey(api, program, { usdPerDay: 1 })));
  t.same((await names()).sort(), ['launch-my-agent', 'launch-my-agent-2', 'launch-program']);
  for (const run of runs) t.match(await endKey(api, run), { calls: 0, input: 0, output: 0 });
  t.same(await names(), []);
});

t.test('a run whose key was revoked, and whose name another run has now, leaves that one alone', async (t) => {
  const { workspace } = await openDesk(t);
  const api = new Api(new Client(await findServer(workspace, 'serve'), new AbortController().signal));
  const first = await takeKey(api, 'agent', {});
  await api.revokeKey(first.name);
  await t.rejects(renewKey(api, first), /There is no key "launch-agent"/);
  const second = await takeKey(api, 'agent', {});
  t.equal(second.name, first.name);
  await endKey(api, first);
  t.match(await api.keys(), { keys: [{ name: second.name }] });
  await endKey(api, second);
});
