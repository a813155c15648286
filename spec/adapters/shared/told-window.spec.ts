import t from 'tap';
import { withToldWindow } from '../../../adapters/shared/told-window.ts';
import { BlockhouseError } from '../../../core/index.ts';

const WINDOW = { path: '/props', field: 'settings.n_ctx' };
const LIST = [{ id: 'a' }, { id: 'b', contextWindow: 5 }];
const settingsOf = (baseURL?: string) => ({ values: { ...(baseURL !== undefined && { baseURL }) }, sources: {} });

t.test('the window that a server tells in one place is that of the models whose entry in the list has none', async (t) => {
  const asked: string[] = [];
  const told = async (url: URL): Promise<unknown> => {
    asked.push(url.href);
    return { settings: { n_ctx: 9 } };
  };
  for (const base of ['http://127.0.0.1:1/v1', 'http://127.0.0.1:1/team/v1/', 'http://127.0.0.1:1'])
    t.same(await withToldWindow(LIST, WINDOW, settingsOf(base), told), [
      { id: 'a', contextWindow: 9 },
      { id: 'b', contextWindow: 5 },
    ]);
  t.same(asked, ['http://127.0.0.1:1/props', 'http://127.0.0.1:1/team/props', 'http://127.0.0.1:1/props']);
  t.equal(await withToldWindow(LIST, WINDOW, settingsOf(), told), LIST);
  t.same(await withToldWindow([], WINDOW, settingsOf('http://127.0.0.1:1'), told), []);
  t.equal(asked.length, 3, 'where nothing is missing, nothing is asked');
});

t.test('a server that does not tell it keeps its list; a defect of ours is not hidden', async (t) => {
  const settings = settingsOf('http://127.0.0.1:1');
  for (const told of [undefined, [], {}, { settings: 7 }, { settings: { n_ctx: 0 } }, { settings: { n_ctx: 'many' } }])
    t.equal(await withToldWindow(LIST, WINDOW, settings, async () => told), LIST, JSON.stringify(told));
  const failing = (error: Error) => withToldWindow(LIST, WINDOW, settings, () => Promise.reject(error));
  t.equal(await failing(new BlockhouseError('UPSTREAM_REJECTED', 'no such page')), LIST);
  await t.rejects(failing(new TypeError('ours')), TypeError);
});
