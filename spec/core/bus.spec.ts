import { readFileSync } from 'node:fs';
import t from 'tap';
import { type CoreEvents, createBus } from '../../core/bus.ts';

/** The compiler keeps this list equal to the type: an event or a field too few or too many does not compile. */
const FIELDS: { readonly [E in keyof CoreEvents]: { readonly [F in keyof Required<CoreEvents[E]>]: true } } = {
  'call.started': { kind: true, call: true, requestId: true, adapter: true, model: true, caller: true, key: true, traceparent: true, stream: true },
  'call.retried': {
    kind: true,
    call: true,
    requestId: true,
    adapter: true,
    model: true,
    caller: true,
    key: true,
    traceparent: true,
    attempt: true,
    delayMs: true,
    code: true,
    error: true,
  },
  'call.finished': {
    kind: true,
    call: true,
    key: true,
    address: true,
    tier: true,
    requestId: true,
    adapter: true,
    model: true,
    caller: true,
    attempts: true,
    failed: true,
    asked: true,
    path: true,
    sentMs: true,
    answer: true,
    durationMs: true,
    queuedMs: true,
    firstTextMs: true,
    usage: true,
    code: true,
    credential: true,
    traceparent: true,
    stream: true,
    messageId: true,
    spanId: true,
  },
  'attempt.started': {
    kind: true,
    call: true,
    requestId: true,
    adapter: true,
    model: true,
    caller: true,
    key: true,
    traceparent: true,
    attempt: true,
    address: true,
    credential: true,
    after: true,
    next: true,
    delayMs: true,
  },
  'attempt.ended': {
    kind: true,
    call: true,
    requestId: true,
    adapter: true,
    model: true,
    caller: true,
    key: true,
    traceparent: true,
    attempt: true,
    address: true,
    credential: true,
    durationMs: true,
    firstByteMs: true,
    firstTextMs: true,
    code: true,
    upstreamStatus: true,
  },
  'call.counted': { call: true, requestId: true, key: true, provider: true, model: true, usage: true, costUsd: true, error: true },
  'request.served': { requestId: true, method: true, route: true, status: true, durationMs: true, traceparent: true },
  'socket.opened': { requestId: true },
  'socket.closed': { requestId: true, code: true, durationMs: true },
  'credential.cooled': { connection: true, credential: true, model: true, state: true, untilMs: true, code: true, error: true },
  'credential.recovered': { connection: true, credential: true, model: true },
  'adapter.paused': { adapter: true, address: true, scope: true, model: true, caller: true, key: true, openMs: true, failures: true, code: true, error: true },
  'adapter.recovered': { adapter: true, address: true, scope: true, model: true, caller: true, key: true },
  'credentials.changed': { file: true },
  'credentials.damaged': { file: true, reason: true },
  'models.damaged': { file: true, reason: true },
  'prices.damaged': { file: true, reason: true },
  'keys.damaged': { file: true, reason: true },
  'key.capped': { key: true, group: true, cap: true, resets: true, raise: true },
  'debug.started': { key: true, until: true },
  'debug.ended': { key: true },
  'token.rotated': { file: true },
  'block.created': { block: true },
  'block.changed': { block: true, file: true },
  'block.transitioned': { block: true, from: true, to: true, cause: true, actor: true },
  'block.damaged': { block: true, file: true, reason: true, copy: true },
  'block.rebuilt': { block: true, file: true, reason: true },
  'block.archived': { block: true, archiveName: true },
  'block.restored': { block: true, archiveName: true },
  'block.renamed': { block: true, from: true },
  'archive.removed': { archiveName: true },
  'message.queued': { block: true, id: true, channel: true, traceparent: true },
  'hook.taken': { block: true, hook: true, id: true },
  'schedule.fired': { block: true, schedule: true, at: true, id: true },
  'schedule.skipped': { block: true, schedule: true, reason: true, runs: true },
  'approval.requested': { block: true, id: true, approval: true, tool: true, because: true, expiresAt: true },
  'approval.decided': { block: true, id: true, approval: true, tool: true, state: true },
  'tool.called': { block: true, id: true, call: true, tool: true },
  'tool.progressed': { block: true, id: true, call: true, tool: true, state: true, task: true, progress: true, total: true, message: true },
  'tool.finished': { block: true, id: true, call: true, tool: true, outcome: true, isError: true, ms: true },
  'tool.billed': { block: true, id: true, tool: true, costUsd: true },
  'server.started': { server: true },
  'server.exited': { server: true, reason: true },
  'server.signed-in': { server: true },
  'notify.failed': { target: true, status: true, isFinal: true },
  'message.started': { block: true, id: true, attempt: true, provider: true, model: true },
  'message.finished': { block: true, id: true, status: true, answerId: true, code: true, usage: true, costUsd: true, latencyMs: true },
  'call.billed': { call: true, block: true, provider: true, model: true, purpose: true, usage: true, costUsd: true },
  'memory.compacted': { block: true, outcome: true, trigger: true },
  'workspace.halted': { halted: true, reason: true },
  'workspace.lost': { pid: true },
  'node.joined': { node: true, self: true, version: true, url: true },
  'node.gone': { node: true, self: true },
  'store.away': { silentMs: true },
  'store.back': { silentMs: true },
  'store.answered': { part: true, durationMs: true },
  'loop.delayed': { delayMs: true, pid: true },
  'workspace.fault': { block: true, what: true, error: true },
};

t.test('docs/events.md lists every event with exactly its fields', async (t) => {
  const text = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
  const documented = text
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [name = '', ...lines] = section.split('\n');
      const names = lines
        .filter((line) => line.startsWith('- '))
        .flatMap((line) => [...(line.split(':')[0] ?? '').matchAll(/`(\w+)`/g)].map((match) => match[1]));
      return [name, names.sort()];
    });
  const known = Object.entries(FIELDS).map(([name, fields]) => [name, Object.keys(fields).sort()]);
  t.same(documented.sort(), known.sort());
});

t.test('a listener gets what was emitted, and nothing once it was taken off', async (t) => {
  const bus = createBus();
  const seen: string[] = [];
  const listen = ({ file }: { file: string }) => seen.push(file);
  bus.on('token.rotated', listen);
  bus.emit('token.rotated', { file: 'a' });
  bus.off('token.rotated', listen);
  bus.emit('token.rotated', { file: 'b' });
  t.same(seen, ['a']);
});

t.test('two buses know nothing of each other', async (t) => {
  const [one, other] = [createBus(), createBus()];
  one.on('token.rotated', () => t.fail('heard the other bus'));
  other.emit('token.rotated', { file: 'a' });
});

t.test('a listener that throws is told as a warning, and the others hear the fact all the same', async (t) => {
  const bus = createBus();
  const seen: string[] = [];
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
  bus.on('token.rotated', () => {
    throw new Error('a broken listener');
  });
  bus.on('token.rotated', ({ file }) => seen.push(file));
  bus.on('*', (type) => seen.push(type));
  bus.emit('token.rotated', { file: 'a' });
  t.same(seen, ['a', 'token.rotated']);
  t.match(await warned, { message: 'a broken listener' });
});

t.test('whether somebody listens is known, so that what is told often need not be made', async (t) => {
  const bus = createBus();
  const listener = () => undefined;
  t.equal(bus.hears('store.answered'), false);
  bus.on('store.answered', listener);
  t.same([bus.hears('store.answered'), bus.hears('loop.delayed')], [true, false]);
  bus.off('store.answered', listener);
  t.equal(bus.hears('store.answered'), false);
  bus.on('*', listener);
  t.ok(bus.hears('loop.delayed'), 'who hears all hears this, too');
});

t.test('the time of the store is told where somebody listens, once the work has succeeded', async (t) => {
  const bus = createBus();
  t.equal(await bus.time('ledger', async () => 7), 7);
  const told: CoreEvents['store.answered'][] = [];
  bus.on('store.answered', (fact) => told.push(fact));
  t.equal(await bus.time('ledger', async () => 7), 7);
  await t.rejects(
    bus.time('file', () => Promise.reject(new Error('full'))),
    { message: 'full' },
  );
  t.match(told, [{ part: 'ledger', durationMs: Number }]);
  t.equal(told.length, 1, 'of what has failed nothing is told');
});
