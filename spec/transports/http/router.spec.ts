import t from 'tap';
import { type Findable, Router } from '../../../transports/http/router.ts';

const ROUTES: Findable[] = [
  { method: 'GET', path: '/a' },
  { method: 'POST', path: '/a' },
  { method: 'POST', path: '/b' },
  { method: 'GET', path: '/a/:id' },
  { method: 'DELETE', path: '/a/:id' },
  { method: 'GET', path: '/a/:id/parts/:part' },
];
const router = new Router(ROUTES);

t.test('a path and a method lead to their route, with the decoded parameters', async (t) => {
  const found: [method: string, path: string, route: number, params: Record<string, string>][] = [
    ['GET', '/a', 0, {}],
    ['POST', '/a', 1, {}],
    ['HEAD', '/a', 0, {}],
    ['GET', '/a/x', 3, { id: 'x' }],
    ['HEAD', '/a/x', 3, { id: 'x' }],
    ['DELETE', '/a/x', 4, { id: 'x' }],
    ['GET', '/a/x/parts/y', 5, { id: 'x', part: 'y' }],
    ['GET', '/a/', 3, { id: '' }],
    ['GET', '/a/%2e%2e', 3, { id: '..' }],
    ['GET', '/a/x%2Fparts%2Fy', 3, { id: 'x/parts/y' }],
    ['GET', '/a/%C3%A9', 3, { id: 'é' }],
    ['GET', '/a/__proto__', 3, { id: '__proto__' }],
  ];
  for (const [method, path, route, params] of found) t.strictSame(router.find(method, path), { route: ROUTES[route], params }, `${method} ${path}`);
});

t.test('a path that no route has is not found', async (t) => {
  for (const path of ['', '/', '/c', '/A', '/a/x/parts', '/a/x/parts/y/z', '//a', '/b/', '/__proto__', 'a', '/a/x/y'])
    t.equal(router.find('GET', path), undefined, path);
});

t.test('a path without this method names the methods that it has', async (t) => {
  const refused: [method: string, path: string, allow: string[]][] = [
    ['PUT', '/a', ['GET', 'POST', 'HEAD', 'OPTIONS']],
    ['GET', '/b', ['POST', 'OPTIONS']],
    ['HEAD', '/b', ['POST', 'OPTIONS']],
    ['OPTIONS', '/b', ['POST', 'OPTIONS']],
    ['POST', '/a/x', ['GET', 'DELETE', 'HEAD', 'OPTIONS']],
    ['get', '/a', ['GET', 'POST', 'HEAD', 'OPTIONS']],
    ['', '/b', ['POST', 'OPTIONS']],
  ];
  for (const [method, path, allow] of refused) t.strictSame(router.find(method, path), { allow }, `${method} ${path}`);
});

t.test('a broken percent-encoding is a path that does not exist', async (t) => {
  for (const segment of ['%', '%E0%A4%A', '%c0%ae%c0%ae', '%zz']) {
    for (const method of ['GET', 'PUT', 'OPTIONS']) t.equal(router.find(method, `/a/${segment}`), undefined, `${method} ${segment}`);
    t.equal(router.find('GET', `/a/x/parts/${segment}`), undefined, segment);
    t.equal(router.find('GET', `/a/${segment}/parts/y`), undefined, segment);
  }
});
