import t from 'tap';
import { joinURL, perSettings } from '../../../adapters/shared/base-url.ts';
import type { ResolvedSettings } from '../../../core/index.ts';

t.test('a path is joined to a base URL, whatever slashes people leave', async (t) => {
  for (const base of ['https://a.example', 'https://a.example/', 'https://a.example//']) t.equal(joinURL(base, '/v1/x').href, 'https://a.example/v1/x');
  t.equal(joinURL('https://a.example:8443/proxy/', '/v1/x?limit=1').href, 'https://a.example:8443/proxy/v1/x?limit=1');
});

t.test('a version that was pasted along is taken off, at the end only', async (t) => {
  const strip = /\/v1$/;
  t.equal(joinURL('https://a.example/v1/', '/v1/x', strip).href, 'https://a.example/v1/x');
  t.equal(joinURL('https://a.example/v1/proxy', '/v1/x', strip).href, 'https://a.example/v1/proxy/v1/x');
  t.equal(joinURL('https://a.example/v10', '/v1/x', strip).href, 'https://a.example/v10/v1/x');
  t.equal(joinURL('https://a.example/v1', '/v1/x').href, 'https://a.example/v1/v1/x', 'and only where asked');
});

t.test('work is done once for each settings object, also if it comes to nothing', async (t) => {
  const seen: unknown[] = [];
  const work = perSettings((settings) => {
    seen.push(settings);
    return undefined;
  });
  const [one, other] = [{ values: {} }, { values: {} }] as unknown as [ResolvedSettings, ResolvedSettings];
  for (const settings of [one, one, other, one]) work(settings);
  t.equal(seen.length, 2);
  t.equal(seen[0], one);
  t.equal(seen[1], other);
});
