import t from 'tap';
import { targetsOf } from '../../../../transports/http/handlers/client-model.ts';
import { scriptedAdapter } from '../../../support/scripted-adapter.ts';
import { startServer } from '../../../support/server.ts';

t.test('a key is kept to its models, also where a list of models falls back to others', async (t) => {
  const { core } = await startServer(t, { adapters: [scriptedAdapter({}, 'one'), scriptedAdapter({}, 'two')] });
  await core.modelsFile?.setAlias('both', ['one/a', 'two/b']);
  const find = async (models: string[] | null) => {
    const key = core.keys?.find((await core.keys.create(`k${Math.random().toString(36).slice(2)}`, { models })) ?? '');
    return (await targetsOf({ core, key }, 'both')).map(({ adapter, model }) => `${adapter}/${model}`);
  };
  t.same((await targetsOf({ core, key: undefined }, 'both')).length, 2);
  t.same(await find(null), ['one/a', 'two/b']);
  t.same(await find(['both']), ['one/a', 'two/b']);
  t.same(await find(['two/*']), ['two/b']);
  await t.rejects(find(['three/*']), { code: 'KEY_FORBIDDEN' });
});
