import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createOllama } from '../../../../../adapters/ollama/index.ts';
import { type CoreEvents, createCore } from '../../../../../core/index.ts';
import { RUNNABLE, type StartedCore, startCore } from '../../../../support/blocks.ts';
import { testFolder } from '../../../../support/test-folder.ts';

type Condition = (fact: { readonly block?: string; readonly to?: string }) => boolean;

/** The workspaces that `diedAt` copies, by what it was asked for. */
const left = new Map<string, Promise<string>>();

/**
 * A workspace as a process leaves it that renames ada to bob, and is killed when it is told this: what is on the disk at that moment, without the lock, which
 * would be that of a dead process. spec/cases/kill.spec.ts kills processes.
 */
async function diedAt(t: Test, event: keyof CoreEvents, condition: Condition, isRunning: boolean): Promise<string> {
  const asked = `${event} ${condition} ${isRunning}`;
  const original = left.get(asked) ?? leave(event, condition, isRunning);
  left.set(asked, original);
  const workspace = testFolder(t);
  cpSync(await original, workspace, { recursive: true });
  return workspace;
}

async function leave(event: keyof CoreEvents, condition: Condition, isRunning: boolean): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'blockhouse-rename-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [workspace, copy] = [join(folder, 'workspace'), join(folder, 'copy')];
  const core = createCore({ workspace, adapters: [createOllama()], env: { OLLAMA_BASE_URL: 'http://127.0.0.1:9' } });
  await core.start();
  await core.blocks.create({ name: 'ada', config: { ...RUNNABLE, description: 'kept' } });
  await core.blocks.create({ name: 'eve', config: RUNNABLE });
  if (isRunning) await core.blocks.start('ada');
  core.events.on(event, (fact) => {
    if (existsSync(copy) || !condition(fact as Parameters<Condition>[0])) return;
    cpSync(workspace, copy, { recursive: true });
    rmSync(join(copy, '.lock'));
  });
  await core.blocks.rename('ada', { name: 'bob' });
  await core.close();
  return copy;
}

async function namesIn({ blocks }: StartedCore): Promise<string[]> {
  return (await blocks.list()).map(({ name }) => name);
}

const MOMENTS = [
  { when: 'before the first move', event: 'block.transitioned', condition: (fact) => fact.to === 'stopped', name: 'ada' },
  { when: 'between the two moves', event: 'block.archived', condition: () => true, name: 'ada' },
  { when: 'after the second move', event: 'block.restored', condition: () => true, name: 'bob' },
  { when: 'while it starts again', event: 'block.transitioned', condition: (fact) => fact.block === 'bob', name: 'bob' },
] as const satisfies readonly { readonly when: string; readonly event: keyof CoreEvents; readonly condition: Condition; readonly name: string }[];

for (const { when, event, condition, name } of MOMENTS) {
  t.test(`after a crash ${when} the block is there, complete, and runs as it did`, async (t) => {
    const one = await startCore(t, { workspace: await diedAt(t, event, condition, true) });
    t.same(await namesIn(one), [name, 'eve'].sort());
    t.same(await one.blocks.archives(), []);
    t.match(one.readJson(name, 'config'), { name, description: 'kept', enabled: true });
    t.match(one.readJson('eve', 'config'), { enabled: false });
    t.match(await one.ask(name, 'hi'), { content: 'You said: hi' });
    t.notOk(readdirSync(join(one.workspace, 'archive')).length, 'nothing is left of the rename');
    t.match(await one.blocks.rename(name, { name: 'zoe' }), { name: 'zoe' }, 'and it can be renamed');
    t.notOk(readdirSync(join(one.workspace, 'archive')).length);
  });
}

t.test('a block that was stopped stays stopped', async (t) => {
  const one = await startCore(t, { workspace: await diedAt(t, 'block.archived', () => true, false) });
  t.same(await namesIn(one), ['ada', 'eve']);
  t.match(one.readJson('ada', 'config'), { enabled: false });
  t.match(await one.blocks.details('ada'), { pulse: { state: 'stopped' } });
});

t.test('a block whose old name was taken meanwhile stays in the archive, which is told, and comes back when the name is free', async (t) => {
  const workspace = await diedAt(t, 'block.archived', () => true, true);
  const taken = join(workspace, 'blocks', 'ada');
  writeFileSync(taken, '');
  const one = await startCore(t, { workspace });
  t.match(await one.told('workspace.fault'), { error: /another block is called ada now\. Restore it with `blockhouse restore ada_\S+ --as bob`/ });
  t.match(await one.blocks.archives(), [{ originalName: 'ada' }]);
  const { findings } = await one.blocks.check();
  t.match(
    findings.find(({ place }) => place === 'archive/.rename.json'),
    { problem: /interrupted/, fix: /start the server again/ },
  );
  await one.core.close();
  rmSync(taken);
  const two = await startCore(t, { workspace });
  t.same(await namesIn(two), ['ada', 'eve']);
  t.notOk(existsSync(join(workspace, 'archive', '.rename.json')));
});

t.test('a block that took one of the names meanwhile is not started in its place', async (t) => {
  const workspace = await diedAt(t, 'block.archived', () => true, true);
  const note = readFileSync(join(workspace, 'archive', '.rename.json'));
  const other = { name: 'ada', ...RUNNABLE, createdAt: new Date().toISOString() };
  mkdirSync(join(workspace, 'blocks', 'ada'));
  writeFileSync(join(workspace, 'blocks', 'ada', 'config.json'), JSON.stringify(other));
  const one = await startCore(t, { workspace });
  t.same(readFileSync(join(workspace, 'archive', '.rename.json')), note, 'the block is still in the archive');
  await one.blocks.restore('ada', { name: 'zoe' });
  await one.core.close();
  const two = await startCore(t, { workspace });
  t.notOk(existsSync(join(workspace, 'archive', '.rename.json')), 'the next start has nothing left to do');
  t.same(two.readJson('ada', 'config'), other);
  t.match(two.readJson('zoe', 'config'), { description: 'kept', enabled: false });
});

t.test('a start that dies before it forgets the rename is repeated by the next', async (t) => {
  const workspace = await diedAt(t, 'block.archived', () => true, true);
  const path = join(workspace, 'archive', '.rename.json');
  const note = readFileSync(path);
  const one = await startCore(t, { workspace });
  await one.core.close();
  writeFileSync(path, note);
  const two = await startCore(t, { workspace });
  t.same(await namesIn(two), ['ada', 'eve']);
  t.same(await two.blocks.archives(), []);
  t.match(two.readJson('ada', 'config'), { description: 'kept', enabled: true });
  t.notOk(existsSync(path));
});

t.test('a damaged note is told, and nothing moves', async (t) => {
  const workspace = await diedAt(t, 'block.archived', () => true, true);
  writeFileSync(join(workspace, 'archive', '.rename.json'), '{"from":1');
  const one = await startCore(t, { workspace });
  t.match(await one.told('workspace.fault'), { what: 'archive/.rename.json' });
  t.match(await one.blocks.archives(), [{ originalName: 'ada' }]);
});
