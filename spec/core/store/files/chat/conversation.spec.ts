// What blocks ask of their conversation, in files. chat-changes.spec.ts has every case of each change.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openFiles } from '../../../../../core/store/files/block/files.ts';
import type { MessageToAppend } from '../../../../../core/store/port.ts';
import { userEntry } from '../../../../support/block-files.ts';
import { type Owned, owned } from '../../../../support/owned.ts';

const AT = '2026-11-20T14:03:22.123Z';
const RULES = { staleAfterMs: Number.POSITIVE_INFINITY, maxAttempts: 3 };

function open(folder: string): { conversation: Owned; close(): Promise<unknown> } {
  const files = openFiles(folder, 'ada', { onChanged: () => undefined, onDamaged: () => undefined, onRebuilt: () => undefined }, () => AT);
  return { conversation: owned(files.conversation), close: () => files.chat.close() };
}

function message(content: string, fields: Partial<MessageToAppend> = {}): MessageToAppend {
  return { content, channel: 'web', clientId: undefined, cap: 10, ...fields };
}

t.test('a message goes its way from append to its answer, each step on disk', async (t) => {
  const folder = t.testdir({});
  const { conversation } = open(folder);
  const added = await conversation.append(message('hi', { clientId: 'mine' }));
  t.match(added, { isNew: true, position: 0, entry: { content: 'hi', status: 'queued' } });
  t.match(await conversation.append(message('again', { clientId: 'mine' })), { isNew: false, entry: { content: 'hi' } });
  await t.rejects(conversation.append(message('more', { cap: 1 })), { code: 'QUEUE_FULL' });
  const { next, queued, over } = await conversation.recover(RULES);
  t.match({ next, queued, over }, { next: { content: 'hi' }, queued: 1, over: [] });
  const id = next?.id ?? '';
  t.match(await conversation.begin(id), { status: 'processing', attempts: 1, startedAt: AT });
  t.equal(await conversation.begin(id), undefined);
  t.equal(await conversation.requeue(id, { countsAsAttempt: false }), true);
  t.match(await conversation.begin(id), { attempts: 1 });
  await conversation.requeueAll();
  t.match(await conversation.begin(id), { attempts: 2 });
  const answer = { ...userEntry(conversation.newId()), role: 'assistant', status: 'done', processed: true, replyTo: id } as const;
  t.ok(answer.id > id);
  t.equal(await conversation.settle(id, { status: 'done' }, answer), true);
  t.equal(await conversation.settle(id, { status: 'failed' }, undefined), false);
  t.match(await open(folder).conversation.message(id), { entry: { status: 'done' }, answer: { id: answer.id } });
  t.match(await conversation.page({ limit: 1 }), [{ id: answer.id }]);
  t.equal((await conversation.entries()).length, 2);
});

t.test('a message is cancelled, and sent again', async (t) => {
  const { conversation } = open(t.testdir({}));
  const added = await conversation.append(message('hi'));
  const id = 'entry' in added ? added.entry.id : '';
  t.match(await conversation.cancel(id), { entry: { status: 'cancelled', finishedAt: AT }, hadFailed: false });
  await t.rejects(conversation.cancel(id), { code: 'WRONG_STATE' });
  t.match(await conversation.retry(id, 10), { id, status: 'queued', timestamp: AT });
  await conversation.settle(id, { status: 'failed' }, undefined);
  t.match(await conversation.cancel(id), { hadFailed: true });
  await t.rejects(conversation.cancel('nobody'), { code: 'MESSAGE_NOT_FOUND' });
  await t.rejects(conversation.retry('nobody', 10), { code: 'MESSAGE_NOT_FOUND' });
});

t.test('recovery writes only where there is something to put in order, and says what it ended', async (t) => {
  const folder = t.testdir({ 'chat.json': JSON.stringify([{ role: 'user', content: 'by hand' }, userEntry('b', { status: 'processing', attempts: 4 })]) });
  const path = join(folder, 'chat.json');
  const { conversation } = open(folder);
  const { next, over } = await conversation.recover(RULES);
  t.match(next, { content: 'by hand', status: 'queued', timestamp: AT });
  t.match(over, [{ id: 'b', status: 'failed', error: { code: 'CRASHED' } }]);
  const written = readFileSync(path, 'utf8');
  writeFileSync(path, ` ${written}`);
  t.match(await conversation.recover(RULES), { queued: 1, over: [] });
  t.equal(readFileSync(path, 'utf8'), ` ${written}`);
});

t.test('the id of an archived message is known by its clientId', async (t) => {
  const folder = t.testdir({ 'chat-archive': { 'client-ids.jsonl': '{"id":"old","clientId":"mine"}\n' } });
  t.strictSame(await open(folder).conversation.append(message('hi', { clientId: 'mine' })), { archivedId: 'old' });
});

t.test('a border lies between all entries and later ones, and a damaged chat has none', async (t) => {
  const late = 'mzzzzzzzzz000000000000';
  const { conversation } = open(t.testdir({ 'chat.json': JSON.stringify([userEntry(late)]) }));
  const border = await conversation.border();
  t.ok(border > late);
  t.ok(conversation.newId() > border);
  const damaged = open(t.testdir({ 'chat.json': '{' })).conversation;
  t.match(await damaged.border(), /^m/);
  await t.rejects(damaged.entries(), { code: 'BLOCK_DAMAGED' });
});

t.test('nothing is changed after the end', async (t) => {
  const { conversation, close } = open(t.testdir({}));
  await close();
  await t.rejects(conversation.append(message('hi')), { code: 'WRONG_STATE' });
});
