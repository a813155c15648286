import t from 'tap';
import { inheritedBy } from '../../../adapters/tools/server-environment.ts';

const ENV = {
  HOME: '/home/ada',
  HTTPS_PROXY: 'http://proxy.example:3128',
  http_proxy: 'http://proxy.example:3128',
  NO_PROXY: 'localhost,.example',
  ALL_PROXY: 'socks5://ada:hunter2@proxy.example',
  https_proxy: 'ada:hunter2@proxy.example:3128',
  OPENAI_API_KEY: 'sk-canary',
  MY_PROXY: 'x',
};

t.test('a server with a network gets the proxies of the environment, but none with a password, and no key', async (t) => {
  const given = { HOME: '/home/ada', HTTPS_PROXY: ENV.HTTPS_PROXY, http_proxy: ENV.http_proxy, NO_PROXY: ENV.NO_PROXY };
  t.strictSame(inheritedBy(undefined, ENV), given);
  t.strictSame(inheritedBy('bwrap+net', ENV), given);
});

t.test('a sandbox without the network gets none', async (t) => {
  t.strictSame(inheritedBy('bwrap', ENV), { HOME: '/home/ada' });
});
