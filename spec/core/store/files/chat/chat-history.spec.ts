import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ChatArchive } from '../../../../../core/store/files/chat/chat-archive.ts';
import { findEntry, pageOf } from '../../../../../core/store/files/chat/chat-history.ts';
import type { Entries, PagePlace } from '../../../../../core/store/port.ts';
import { answerEntry, pair, userEntry } from '../../../../support/block-files.ts';

const many = (count: number, from = 0) => Array.from({ length: count }, (_, n) => userEntry(`m${from + n}`));
const names = (from: number, end: number) => Array.from({ length: end - from }, (_, n) => `m${from + n}`);
const lines = (entries: Entries) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');

/** Ten entries: four in October, three in November, three active. */
function conversation(t: Test) {
  const folder = join(t.testdir({}), 'chat-archive');
  mkdirSync(folder);
  const october = join(folder, '2026-10.jsonl');
  writeFileSync(october, lines(many(4)));
  writeFileSync(join(folder, '2026-11.jsonl'), lines(many(3, 4)));
  const archive = new ChatArchive(folder);
  const active = many(3, 7);
  const page = async (place: PagePlace) => (await pageOf(archive, active, place)).map(({ id }) => id);
  return { folder, october, archive, active, page };
}

t.test('pages go back from the newest entry through every file, and end with an empty page', async (t) => {
  const { page } = conversation(t);
  t.same(await page({ limit: 3 }), names(7, 10));
  t.same(await page({ limit: 4, before: 'm7' }), names(3, 7));
  t.same(await page({ limit: 4, before: 'm3' }), names(0, 3));
  t.same(await page({ limit: 4, before: 'm0' }), []);
  t.same(await page({ limit: 2, before: 'm9' }), names(7, 9));
  t.same(await page({ limit: 100 }), names(0, 10));
  t.same(await page({ limit: 100, before: 'm5' }), names(0, 5));
});

t.test('pages go forward from an entry to the newest one', async (t) => {
  const { page } = conversation(t);
  t.same(await page({ limit: 3, since: 'm0' }), names(1, 4));
  t.same(await page({ limit: 5, since: 'm3' }), names(4, 9));
  t.same(await page({ limit: 100, since: 'm5' }), names(6, 10));
  t.same(await page({ limit: 1, since: 'm7' }), names(8, 9));
  t.same(await page({ limit: 9, since: 'm9' }), []);
});

t.test('a page beside an entry that does not exist is refused', async (t) => {
  const { page } = conversation(t);
  await t.rejects(page({ limit: 1, before: 'nobody' }), { code: 'MESSAGE_NOT_FOUND', message: /"nobody"/ });
  await t.rejects(page({ limit: 1, since: 'nobody' }), { code: 'MESSAGE_NOT_FOUND' });
});

t.test('an entry that a crash left in two places is shown once, in either direction', async (t) => {
  const { folder, page } = conversation(t);
  appendFileSync(join(folder, '2026-11.jsonl'), lines(many(4, 5)));
  t.same(await page({ limit: 100 }), ['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9']);
  t.same(await page({ limit: 100, since: 'm0' }), names(1, 10));
  const seen: string[] = [];
  for (let next: string[] = ['m9']; next.length > 0; next = await page({ limit: 1, before: next[0] })) seen.push(...next);
  t.same(seen.reverse(), names(0, 10));
  const ahead: string[] = [];
  for (let next: string[] = ['m0']; next.length > 0; next = await page({ limit: 1, since: next[0] })) ahead.push(...next);
  t.same(ahead, names(0, 10));
});

t.test('lines that are no messages are skipped, and entries written by hand are read', async (t) => {
  const { october, page } = conversation(t);
  const { id, ...rest } = userEntry('by "hand"');
  appendFileSync(october, `{"cut sho\n\n{"id":"odd"}\n[]\n${JSON.stringify({ ...rest, id })}\n`);
  t.same(await page({ limit: 5, before: 'm5' }), ['m1', 'm2', 'm3', 'by "hand"', 'm4']);
  t.same(await page({ limit: 3, since: 'm2' }), ['m3', 'by "hand"', 'm4']);
  t.same(await page({ limit: 1, before: 'by "hand"' }), ['m3']);
});

t.test('a page of long entries ends early, and paging still reaches all of them', async (t) => {
  const { folder, page } = conversation(t);
  const long = Array.from({ length: 6 }, (_, n) => userEntry(`l${n}`, { content: 'x'.repeat(3_000_000) }));
  writeFileSync(join(folder, '2026-11.jsonl'), lines(long));
  t.same(await page({ limit: 100, before: 'm7' }), ['l4', 'l5']);
  t.same(await page({ limit: 100, before: 'l4' }), ['l2', 'l3']);
  t.same(await page({ limit: 100, before: 'l0' }), names(0, 4));
  t.same(await page({ limit: 100, since: 'm2' }), ['m3', 'l0', 'l1']);
  t.same(await page({ limit: 100, since: 'l5' }), names(7, 10));
  const huge = userEntry('huge', { content: 'x'.repeat(9_000_000) });
  writeFileSync(join(folder, '2026-11.jsonl'), lines([...many(1, 4), huge]));
  t.same(await page({ limit: 100, before: 'm7' }), ['huge'], 'never without any entry');
  t.same(await page({ limit: 100, since: 'm4' }), ['huge']);
});

t.test('a message is found with its answer, wherever either of them is', async (t) => {
  const { folder, archive } = conversation(t);
  const [asked, answer] = pair('1') as [Entries[0], Entries[0]];
  const cases: [title: string, october: Entries, november: Entries, active: Entries][] = [
    ['both active', [], [], [asked, answer]],
    ['the answer archived', [], [answer], [asked]],
    ['the answer archived long ago', [answer], [], [asked]],
    ['the message archived', [], [asked], [answer]],
    ['both archived', [], [asked, answer], []],
    ['in two files', [asked], [answer], []],
  ];
  for (const [title, october, november, active] of cases) {
    writeFileSync(join(folder, '2026-10.jsonl'), lines(october));
    writeFileSync(join(folder, '2026-11.jsonl'), lines(november));
    t.same(await findEntry(archive, active, '1'), { entry: asked, answer }, title);
    t.same(await findEntry(archive, active, '1a'), { entry: answer, answer: null }, `${title}: the answer itself`);
  }
  const waiting = userEntry('2', { status: 'queued', processed: false });
  t.same(await findEntry(archive, [waiting], '2'), { entry: waiting, answer: null });
  const again = answerEntry('1b', '1');
  t.same((await findEntry(archive, [asked, answer, again], '1')).answer, again, 'the newest one');
  await t.rejects(findEntry(archive, [], 'nobody'), { code: 'MESSAGE_NOT_FOUND', status: 404 });
});
