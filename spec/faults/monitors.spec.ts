// Monitors and the command (group H).
//
// Held elsewhere:
// H124 a defect of the monitor itself: spec/core/block/actor/monitor-region.spec.ts and actors.spec.ts; nothing outside can make one throw.
// H126 H128 killed at each stage, and with many messages: spec/cases/kill.spec.ts.
// H129 a process number that is another one now: spec/core/store/files/lock.spec.ts. Monitors are no processes.
// H134 every wait of a monitor is one for the gateway, whose limits end it: spec/core/gateway, spec/adapters/outbound/call.spec.ts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runHere } from '../cli/run.ts';
import { callsOf, history, makeBlock, untilHistory } from '../support/fault-calls.ts';
import { sharedFaultWorld } from '../support/fault-world.ts';
import { daemonLine, friendlyDaemon } from '../support/server.ts';
import { sweep } from '../support/sweep.ts';
import { type Answerer, sendJson } from '../support/upstream.ts';

/** Begins an answer and leaves it open, refuses, or is friendly, as the last message asks. */
const moody: Answerer = (request, res, index) => {
  const { messages } = JSON.parse(request.body) as { messages: { content: string }[] };
  const last = messages.at(-1)?.content ?? '';
  if (last.includes('begin only')) {
    res.write(daemonLine('The beginning'));
    return;
  }
  if (last.includes('poison')) return sendJson(res, { error: 'this can never be answered' }, 400);
  return friendlyDaemon(request, res, index);
};

const world = await sharedFaultWorld(moody);
const ask = callsOf(world);

t.test('H125 a message that can never be answered fails with its reason, and the next one is answered', async (t) => {
  await makeBlock(t, ask, 'ada');
  await ask('POST', '/api/blocks/ada/start');
  await ask('POST', '/api/blocks/ada/chat', { message: 'poison' });
  await ask('POST', '/api/blocks/ada/chat', { message: 'hello' });
  const entries = await untilHistory(ask, 'ada', 'the second one is answered', (all) => all.some(({ role }) => role === 'assistant'));
  t.match(entries, [
    { content: 'poison', status: 'failed', error: { message: /never be answered/ } },
    { content: 'hello', status: 'done' },
    { role: 'assistant', content: 'Hello, you' },
  ]);
  await world.check(t, 'H125');
});

t.test('H130 fifty starts at once are one monitor, fifty stops end it', async (t) => {
  await makeBlock(t, ask, 'many');
  const running = async (): Promise<number> => (await ask('GET', '/api/health')).json.monitorsRunning as number;
  const before = await running();
  const all = (verb: string): Promise<{ status: number }[]> => Promise.all(Array.from({ length: 50 }, () => ask('POST', `/api/blocks/many/${verb}`)));
  t.ok((await all('start')).every(({ status }) => status === 200));
  t.equal(await running(), before + 1);
  t.ok((await all('stop')).every(({ status }) => status === 200));
  t.equal(await running(), before);
  await world.check(t, 'H130');
});

t.test('H131 a block that is archived while it answers moves after its answer was ended, and is not made anew', async (t) => {
  await makeBlock(t, ask, 'leaving');
  await ask('POST', '/api/blocks/leaving/start');
  const seen = world.upstream.requests.length;
  await ask('POST', '/api/blocks/leaving/chat', { message: 'begin only' });
  const request = await world.upstream.arrived(seen);
  const { archiveName } = (await ask('DELETE', '/api/blocks/leaving')).json as { archiveName: string };
  await request.closed;
  t.notOk(existsSync(join(world.workspace, 'blocks', 'leaving')));
  t.equal((await ask('POST', `/api/archive/${archiveName}/restore`, {})).status, 200);
  const entries = await history(ask, 'leaving');
  t.equal(entries.filter(({ role }) => role === 'user').length, 1, 'the message is there once');
  t.ok(
    entries.filter(({ role }) => role === 'assistant').every(({ content, status }) => content === 'The beginning' && status === 'interrupted'),
    'what came of its answer is marked as a part',
  );
  await world.check(t, 'H131');
});

t.test('H135 what a block accepted is answered, and what is too much is refused with the time to come back', async (t) => {
  const cap = sweep(100, 12);
  await makeBlock(t, ask, 'flooded', { queue: { cap } });
  const replies = await Promise.all(Array.from({ length: sweep(250, 30) }, (_, i) => ask('POST', '/api/blocks/flooded/chat', { message: `number ${i}` })));
  const accepted = replies.filter(({ status }) => status === 200);
  const refused = replies.filter(({ status }) => status !== 200);
  t.equal(accepted.length, cap, 'the cap');
  for (const { status, json, headers } of refused) {
    t.match({ status, json }, { status: 429, json: { code: 'QUEUE_FULL' } });
    t.ok(Number(headers.get('retry-after')) > 0);
  }
  await ask('POST', '/api/blocks/flooded/start');
  const entries = await untilHistory(ask, 'flooded', 'all are answered', (all) => all.filter(({ role }) => role === 'assistant').length >= cap);
  t.strictSame(
    entries.filter(({ role }) => role === 'assistant').map(({ replyTo }) => replyTo),
    entries.filter(({ role }) => role === 'user').map(({ id }) => id),
    'one answer each, in their order',
  );
  await world.check(t, 'H135');
});

t.test('H136 a command without its server, with a bad token or a closed output ends in one line with a code of its own', async (t) => {
  const nowhere = join(world.workspace, '..', 'workspace', 'none');
  const cases: [what: string, args: readonly string[], env: Record<string, string>][] = [
    ['no workspace', ['ls', '--workspace', nowhere], {}],
    ['no such command', ['fly'], {}],
    ['no such block', ['show', 'nobody', '--workspace', world.workspace], {}],
  ];
  const codes = new Set<number | null>();
  for (const [what, args, env] of cases) {
    const { code, stdout, stderr } = await runHere(t, args, { env });
    world.heard(stdout + stderr);
    t.not(code, 0, what);
    codes.add(code);
    t.notMatch(stderr, /\n\s+at /, `${what}: no stack`);
    t.ok(stderr.trim().split('\n').length <= 3, `${what}: ${stderr}`);
  }
  t.ok(codes.size > 1, `codes ${[...codes].join(', ')}`);
  await world.check(t, 'H136');
});
