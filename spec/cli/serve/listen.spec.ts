import type { AddressInfo } from 'node:net';
import t from 'tap';
import { listenOn, openDoors } from '../../../cli/serve/listen.ts';
import type { ProcessConfig } from '../../../core/index.ts';

const CONFIG = { host: 'box', port: 80, ollamaPort: 90 } as ProcessConfig;
const failing = (code: string) => async (): Promise<never> => {
  throw Object.assign(new Error(`listen ${code}`), { code });
};

t.test('a place that can not be used is named, with what to change', async (t) => {
  for (const [code, message] of [
    ['EADDRINUSE', /^box:80 is in use; choose another port with --port or BLOCKHOUSE_PORT/],
    ['EACCES', /^box:80 needs more privileges/],
    ['ENOTFOUND', /^box is not an address of this machine; choose another with --host/],
    ['EIO', /^box:80 can't be used: listen EIO/],
  ] as const)
    await t.rejects(openDoors(CONFIG, { listen: failing(code) }), { kind: 'place', message });
});

t.test('workers listen at the second door only if there is one, and on loopback', async (t) => {
  const asked: unknown[] = [];
  const listen = async (...place: unknown[]): Promise<AddressInfo> => {
    asked.push(place);
    return { address: '::1', family: 'IPv6', port: 1 };
  };
  t.same(Object.keys(await openDoors({ ...CONFIG, ollamaPort: undefined } as unknown as ProcessConfig, { listen })), ['main']);
  t.same(Object.keys(await openDoors(CONFIG, { listen })), ['main', 'bare']);
  t.same(asked, [
    ['main', 80, 'box'],
    ['main', 80, 'box'],
    ['bare', 90, '127.0.0.1'],
  ]);
});

t.test('nothing listens where the second address can not be used', async (t) => {
  let closed = 0;
  const transport = {
    listen: async () => 'http://box:80',
    serveAt: () => '',
    take: () => false,
    close: async () => {
      closed += 1;
    },
  };
  await t.rejects(listenOn(CONFIG)(transport, { ...transport, listen: failing('EADDRINUSE') }), { message: /^127.0.0.1:90 .* --ollama-port/ });
  t.equal(closed, 1);
});
