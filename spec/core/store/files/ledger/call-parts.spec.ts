import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CallParts } from '../../../../../core/store/files/ledger/call-parts.ts';
import type { GatewayCall, OpenCall } from '../../../../../core/store/port.ts';

const usage = { inputTokens: 1, outputTokens: 1000, totalTokens: 1001, estimated: true };
const call = (id: string, fields: Partial<OpenCall> = {}): OpenCall => ({
  id,
  at: '2026-11-22T12:00:00.000Z',
  requestId: 'r',
  key: 'app',
  provider: 'p',
  model: 'm',
  usage,
  costUsd: null,
  error: 'SHUTTING_DOWN',
  ...fields,
});
const ended: GatewayCall = {
  ...call('-'),
  id: undefined,
  usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
  error: null,
  firstTextMs: 1,
  durationMs: 2,
};
const journalOf = (folder: string, part: string): string => join(folder, part, 'calls.jsonl');
const idsOf = (calls: readonly OpenCall[]): string[] => calls.map(({ id }) => id);

async function partsIn(t: Test, folder: string, faults: unknown[] = []): Promise<CallParts> {
  const parts = await CallParts.open(folder, { onFault: (error) => faults.push(error), now: Date.now });
  t.teardown(() => parts.close());
  return parts;
}

/** What a killed process has left in a part. */
function leave(folder: string, part: string, ...calls: OpenCall[]): void {
  mkdirSync(join(folder, part), { recursive: true });
  writeFileSync(journalOf(folder, part), calls.map((one) => `${JSON.stringify(one)}\n`).join(''));
}

t.test('processes that share a folder have a part each, and one that ends leaves nothing', async (t) => {
  const folder = join(t.testdir({}), 'calls');
  const [one, other] = [await partsIn(t, folder), await partsIn(t, folder)];
  t.same(readdirSync(folder).sort(), ['part-1', 'part-2']);
  const noted = call('a');
  await one.note(noted);
  await other.note(call('b'));
  t.match(JSON.parse(readFileSync(journalOf(folder, 'part-1'), 'utf8')), { id: 'a' });
  t.equal(one.end(noted, ended), 'a');
  one.beginForget();
  one.forget(['a']);
  await one.close();
  t.equal(readFileSync(journalOf(folder, 'part-1'), 'utf8'), '');
  const third = await partsIn(t, folder);
  t.same(await third.left(), [], 'what is under way in another process is no business of others');
  t.same(readdirSync(folder).sort(), ['part-1', 'part-2']);
});

t.test('own-part, taken-over: the next process finds what all have left that are gone, once, and keeps it until it is forgotten', async (t) => {
  const folder = join(t.testdir({}), 'calls');
  leave(folder, 'part-1', call('a'), call('a', { error: null }));
  leave(folder, 'part-3', call('b'), call('c'));
  leave(folder, 'part-4');
  const first = await partsIn(t, folder);
  t.match(await first.left(), [{ id: 'a', error: null }, { id: 'b' }, { id: 'c' }]);
  await first.note(call('own'));
  const second = await partsIn(t, folder);
  t.same(await second.left(), [], 'another process has them');
  first.beginForget();
  first.forget(['a', 'b']);
  t.match(readFileSync(journalOf(folder, 'part-3'), 'utf8'), /"c"/);
  await first.close();
  const third = await partsIn(t, folder);
  t.same(idsOf(await third.left()), ['a', 'own', 'b', 'c'], 'what its process did not forget in order is known by its id');
  third.forget(['a', 'own', 'b', 'c']);
  for (const part of ['part-1', 'part-3']) t.equal(readFileSync(journalOf(folder, part), 'utf8'), '', part);
  while (existsSync(join(folder, 'part-3', '.lock'))) await new Promise((done) => setTimeout(done, 5));
});

t.test('a part that can not be read is reported, and nothing of it is lost', async (t) => {
  const folder = join(t.testdir({}), 'calls');
  mkdirSync(journalOf(folder, 'part-1'), { recursive: true });
  leave(folder, 'part-2', call('b'));
  const faults: unknown[] = [];
  const parts = await partsIn(t, folder, faults);
  for (let n = 0; n < 2; n += 1) await t.rejects(parts.left(), { code: 'WORKSPACE_DAMAGED', message: /not a regular file/ });
  t.equal(faults.length, 1);
  rmdirSync(journalOf(folder, 'part-1'));
  t.same(idsOf(await parts.left()), ['b']);
});

t.test('a folder that was removed is made again with the calls under way, and is still held', async (t) => {
  const folder = join(t.testdir({}), 'calls');
  const parts = await partsIn(t, folder);
  await parts.note(call('a'));
  rmSync(folder, { recursive: true });
  let last = '';
  for (let n = 0; !existsSync(journalOf(folder, 'part-1')); n += 1) {
    last = `b${n}`;
    await parts.note(call(last));
    await new Promise((done) => setTimeout(done, 5));
  }
  const text = readFileSync(journalOf(folder, 'part-1'), 'utf8');
  for (const id of ['a', 'b0', last]) t.match(text, `"id":"${id}"`);
  while (!existsSync(join(folder, 'part-1', '.lock'))) await new Promise((done) => setTimeout(done, 5));
  const other = await partsIn(t, folder);
  t.same(await other.left(), []);
  t.same(readdirSync(folder).sort(), ['part-1', 'part-2']);
});

t.test('of calls that share a line, one that lasts gets a line of its own', async (t) => {
  const folder = join(t.testdir({}), 'calls');
  const parts = await partsIn(t, folder);
  const calls = Array.from({ length: 60 }, (_, n) => call(`shared-${n}`));
  await Promise.all(calls.map((one) => parts.note(one)));
  const text = (): string => readFileSync(journalOf(folder, 'part-1'), 'utf8');
  t.notMatch(text(), '"shared-59"', 'it came among many');
  parts.noteAlone(calls[59] as OpenCall);
  while (!text().includes('"shared-59"')) await new Promise((done) => setTimeout(done, 5));
});

t.test('a fault of the disk is reported once a minute', async (t) => {
  const folder = join(t.testdir({}), 'calls');
  const faults: unknown[] = [];
  const parts = await partsIn(t, folder, faults);
  const [a, b] = [call('a'), call('b')];
  mkdirSync(journalOf(folder, 'part-1'));
  await t.rejects(parts.note(a) ?? Promise.resolve(), { code: 'EISDIR' });
  parts.end(a, ended);
  parts.end(b, ended);
  t.equal(faults.length, 1);
});
