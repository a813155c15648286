// Durability, disk and processes (group D).
//
// Held elsewhere:
// D56 kill -9 at random points: spec/cases/kill.spec.ts, and for longer bench/faults/kill.ts.
// D57 D61 D63 D64 each system call of a write fails in turn: bench/faults/file-faults.ts, and by a file system of the test in
//     spec/core/store/files/atomic-file.spec.ts and json-file.spec.ts.
// D58 power cuts: bench/faults/power-cut.ts, which needs root.
// D68 no watches left: spec/core/store/files/folder-watch.spec.ts.
// D69 logs hold counts and never text, and are cut: spec/core/store/files/logs/block-log.spec.ts.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { run } from '../cli/run.ts';
import { callsOf, history, makeBlock } from '../support/fault-calls.ts';
import { sharedFaultWorld } from '../support/fault-world.ts';
import { withSmallDisk } from '../support/small-disk.ts';

const world = await sharedFaultWorld();
const ask = callsOf(world);

t.test('D60 on a full disk a write is refused, what was there stays, no part is left, and the next one works', async (t) => {
  const folder = join(world.workspace, 'blocks');
  mkdirSync(folder, { recursive: true });
  const reason = await withSmallDisk(folder, async () => {
    await makeBlock(t, ask, 'small', { description: 'as it was' });
    const config = join(folder, 'small', 'config.json');
    const before = readFileSync(config, 'utf8');
    const refused = await ask('PUT', '/api/blocks/small/config', { systemPrompt: 'x'.repeat(250_000) });
    t.match(refused, { status: 507, json: { code: 'STORAGE_FULL' } }, refused.text.slice(0, 300));
    t.equal(readFileSync(config, 'utf8'), before);
    t.strictSame(
      readdirSync(join(folder, 'small'), { recursive: true }).filter((name) => String(name).includes('tmp')),
      [],
    );
    t.match(await ask('PUT', '/api/blocks/small/config', { description: 'as it is' }), { status: 200, json: { config: { description: 'as it is' } } });
    await world.check(t, 'D60');
  });
  if (reason !== undefined) t.comment(`skipped: ${reason}`);
});

t.test('D65 a second server on the workspace ends at once and names the first, which goes on', async (t) => {
  const second = await run(t, ['serve', '--port', '0', '--workspace', world.workspace]);
  t.not(second.code, 0);
  t.match(second.stderr, String(world.pid), 'the process that holds it');
  t.match(second.stderr, String(world.port), 'and where it is reached');
  t.notMatch(second.stderr, /at .*\.js:\d+/, 'no stack');
  world.heard(second.stdout + second.stderr);
  await world.check(t, 'D65');
});

t.test('D66 programs that write the same block at the same time lose nothing', async (t) => {
  await makeBlock(t, ask, 'shared', { queue: { cap: 1000 } });
  const overHttp = Array.from({ length: 60 }, (_, i) => ask('POST', '/api/blocks/shared/chat', { message: `http ${i}` }));
  const facts = Array.from({ length: 60 }, (_, i) => ask('POST', '/api/blocks/shared/memory/facts', { text: `fact ${i}` }));
  const byCommand = Array.from({ length: 3 }, (_, i) => run(t, ['send', 'shared', `cli ${i}`, '--workspace', world.workspace]));
  for (const { status, text } of [...(await Promise.all(overHttp)), ...(await Promise.all(facts))]) t.equal(status, 200, text);
  for (const { code, stderr } of await Promise.all(byCommand)) t.equal(code, 0, stderr);
  const contents = (await history(ask, 'shared')).map(({ content }) => content).sort();
  t.strictSame(contents, [...Array.from({ length: 60 }, (_, i) => `http ${i}`), 'cli 0', 'cli 1', 'cli 2'].sort());
  t.equal((await ask('GET', '/api/blocks/shared')).json.memory.facts.length, 60);
  await world.check(t, 'D66');
});
