import t from 'tap';
import { blockPath, pathOf, routeOf } from '../../../../transports/dashboard/data/route.ts';

const shown = (target: string): string => {
  const { page, block, tab, query } = routeOf(target);
  return [page, ...(block === undefined ? [] : [block, tab]), ...query].join(' ');
};

t.test('an address names a page, or a block with its tab', async (t) => {
  const cases: [target: string, names: string][] = [
    ['/ui/', 'fleet'],
    ['/ui/?find=a', 'fleet find,a'],
    ['/ui/gateway?window=24h', 'gateway window,24h'],
    ['/ui/blocks/support', 'block support chat'],
    ['/ui/blocks/support/logs?level=warn', 'block support logs level,warn'],
    ['/ui/blocks/a%20b/costs', 'block a b costs'],
  ];
  for (const [target, names] of cases) t.equal(shown(target), names, target);
});

t.test('any other address names no page and no block', async (t) => {
  const targets = [
    '/ui/gateway/x',
    '/ui/blocks',
    '/ui/blocks/a/chat/b',
    '/ui/blocks/a/secrets',
    '/ui/blocks/%E0%A4%A',
    '/api/halt',
    '/ui/../api',
    '/ui/block',
    '/ui/gateway/',
  ];
  for (const target of targets) {
    const { page, block } = routeOf(target);
    t.equal(block, undefined, target);
    t.ok(['?', 'blocks', 'block'].includes(page), `${target}: ${page}`);
  }
});

t.test('what an address is made of is found in it again', async (t) => {
  t.equal(pathOf('fleet'), '/ui/');
  t.equal(pathOf('settings', { key: 'ollama', find: '', at: undefined }), '/ui/settings?key=ollama');
  t.equal(blockPath('support'), '/ui/blocks/support');
  for (const name of ['support', 'a b', 'ä/ö?#&=']) {
    const { block, tab, query } = routeOf(blockPath(name, 'history', { at: name }));
    t.strictSame([block, tab, query.get('at')], [name, 'history', name]);
  }
});
