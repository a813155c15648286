import { chmodSync, readdirSync, rmSync } from 'node:fs';
import t, { type Test } from 'tap';
import { deepHealth, type Examined, type ExaminedBlocks } from '../../core/deep-health.ts';
import type { EndedCall } from '../../core/gateway/meter.ts';
import type { ShownConnection } from '../../core/types.ts';
import { testFolder } from '../support/test-folder.ts';

const connection = (name: string, fields: Partial<ShownConnection> = {}) => ({ name, ready: true, breaker: 'closed', ...fields }) as ShownConnection;
const call = (adapter: string, at: number, fields: Partial<EndedCall['fact']> = {}): EndedCall => ({
  at,
  fact: { kind: 'chat', call: 1, requestId: 'r', adapter, model: 'm', attempts: 1, durationMs: 1, ...fields },
});

function examined(
  t: Test,
  {
    connections = [],
    ended = [],
    ...fields
  }: { connections?: ShownConnection[]; ended?: EndedCall[] } & Partial<Pick<Examined, 'storeHealth' | 'workspace'>> = {},
): Examined {
  return {
    workspace: testFolder(t),
    version: '1.2.3',
    storeHealth: undefined,
    connections: { list: () => connections },
    meter: { ended: () => ended },
    ...fields,
  };
}

t.test('a server whose disk takes bytes is ok, and nothing of the look stays', async (t) => {
  const core = examined(t);
  const health = await deepHealth(core);
  t.match(health, { status: 'ok', version: '1.2.3', disk: { error: null }, providers: [] });
  t.ok((health.disk.freeBytes ?? 0) > 0);
  t.notOk('store' in health, 'a folder has no database');
  t.same(readdirSync(core.workspace ?? ''), []);
});

t.test('without its folder it fails, and says why', async (t) => {
  const core = examined(t);
  rmSync(core.workspace ?? '', { recursive: true });
  t.match(await deepHealth(core), { status: 'failing', disk: { freeBytes: null, writeMs: null, error: /ENOENT/ } });
});

t.test('many who ask at once cause one look', async (t) => {
  const core = examined(t);
  const looks = await Promise.all(Array.from({ length: 50 }, () => deepHealth(core)));
  t.equal(new Set(looks.map(({ disk }) => disk)).size, 1);
});

t.test('a provider is as the last call ended that tells of it; what is wrong with a request does not', async (t) => {
  const ended = [
    call('down', 3000, { code: 'UPSTREAM_FAILED' }),
    call('down', 2000),
    call('up', 2500),
    call('up', 1000, { code: 'UPSTREAM_TIMEOUT' }),
    call('left', 2600, { code: 'CANCELLED' }),
    call('full', 2700, { code: 'QUEUE_FULL', attempts: 0 }),
    call('refusing', 2800, { code: 'UPSTREAM_REJECTED' }),
    call('refusing', 1000),
    call('misused', 2800, { code: 'INVALID_REQUEST' }),
    call('misused', 1000, { code: 'UPSTREAM_AUTH' }),
  ];
  const connections = [
    ...['down', 'up', 'left', 'full', 'refusing', 'misused'].map((name) => connection(name)),
    connection('bare', { ready: false }),
    connection('off', { breaker: 'open' }),
  ];
  const health = await deepHealth(examined(t, { connections, ended }));
  t.same(Object.fromEntries(health.providers.map(({ name, state }) => [name, state])), {
    down: 'failing',
    up: 'ok',
    left: 'unknown',
    full: 'unknown',
    refusing: 'ok',
    misused: 'failing',
    bare: 'not-set',
    off: 'paused',
  });
  t.equal(health.status, 'degraded');
  t.match(health.providers[0], { lastOkAt: '1970-01-01T00:00:02.000Z', lastFailureAt: '1970-01-01T00:00:03.000Z', lastCode: 'UPSTREAM_FAILED' });
  t.equal((await deepHealth(examined(t, { connections: [connection('bare', { ready: false })] }))).status, 'ok', 'what nobody has set up is no fault');
});

t.test('blocks that wait for the disk are named, also where it takes nothing at all', async (t) => {
  const list = async () => ['ada', 'bob', 'cy'].map((name) => ({ name, state: name === 'cy' ? 'idle' : 'backoff' }));
  const explain = async (name: string) => ({ reason: { code: name === 'ada' ? 'STORAGE_FULL' : 'UPSTREAM_FAILED' } });
  const session = { isOpen: true, blocks: { list, explain } } as unknown as ExaminedBlocks;
  t.match(await deepHealth(examined(t), session), { status: 'failing', disk: { error: 'These blocks wait until the disk takes what they write: ada.' } });
  const core = examined(t);
  rmSync(core.workspace ?? '', { recursive: true });
  t.match((await deepHealth(core, session)).disk.error, /^ENOENT.*\. These blocks wait until the disk takes what they write: ada\.$/);
  const storeHealth = { latencyMs: 12, node: 'n1', nodes: 2, draining: false, isAway: true };
  const never = { isOpen: true, blocks: { list: () => Promise.reject(new Error('away')) } } as unknown as ExaminedBlocks;
  t.match(await deepHealth(examined(t, { storeHealth }), never), { status: 'failing', disk: { error: null } });
});

t.test('a database that is away makes it fail', async (t) => {
  const storeHealth = { latencyMs: 12, node: 'n1', nodes: 2, draining: false, isAway: true };
  t.match(await deepHealth(examined(t, { storeHealth })), { status: 'failing', store: { isAway: true, nodes: 2 } });
  t.equal((await deepHealth(examined(t, { storeHealth: { ...storeHealth, isAway: false } }))).status, 'ok');
});

t.test('without a workspace there is nothing to look at', async (t) => {
  await t.rejects(deepHealth(examined(t, { workspace: undefined })), /needs a workspace/);
});

t.test('a folder that may not be written to makes it fail', { skip: process.getuid?.() === 0 && 'root may write anywhere' }, async (t) => {
  const core = examined(t);
  chmodSync(core.workspace ?? '', 0o500);
  t.match(await deepHealth(core), { status: 'failing', disk: { error: /EACCES/ } });
});
