import t from 'tap';
import { type Item, noticeOf, payloadsOf, type Step } from '../../../../../core/store/postgres/signals/notices.ts';
import { ReplyMirror } from '../../../../../core/store/postgres/signals/reply-mirror.ts';

const start = (seq: number): Step => ({ id: 'm1', seq, event: 'start', provider: 'p', model: 'm', attempt: 1 });
const content = (seq: number, text: string): Step => ({ id: 'm1', seq, event: 'content', text });
const textOf = (steps: readonly Step[]): string => steps.map((step) => (step.event === 'content' ? step.text : '')).join('');

t.test('notices fit, whatever their text, and say the same when they are read', async (t) => {
  const text = `${'😀'.repeat(4000)}${'"\\\n\0é\u20ac'.repeat(3000)}\ud83d`;
  const items: Item[] = [
    { is: 'work', block: 1 },
    { is: 'work', block: 1 },
    { is: 'step', block: 2, step: content(7 + text.length, text) },
    { is: 'document', block: 3, kind: 'config' },
  ];
  const payloads = payloadsOf('me', items);
  for (const payload of payloads) t.ok(Buffer.byteLength(payload) < 8000);
  const read = payloads.flatMap((payload) => noticeOf(payload)?.items ?? []);
  t.same(
    read.filter(({ is }) => is !== 'step'),
    [items[0], items[3]],
  );
  const mirror = new ReplyMirror();
  mirror.take(start(7));
  const seen: Step[] = [];
  mirror.join((step) => seen.push(step), 7);
  for (const item of read) if (item.is === 'step') t.equal(mirror.take(item.step), true);
  t.equal(textOf(seen), text);
  t.same(payloadsOf('me', []), []);
  for (const bad of ['', 'null', '{"v":2,"from":"me","items":[]}', '{"v":1}']) t.equal(noticeOf(bad), undefined);
});

t.test('an item that fits into no notice keeps no other from being sent, such as a call of a tool whose name a model has made up', async (t) => {
  const run = (tool: string): Item => ({
    is: 'run',
    fact: { name: 'tool.finished', block: 'ada', id: 'm1', call: '1.1', tool, outcome: 'done', isError: false, ms: 1 },
  });
  const items: Item[] = [{ is: 'work', block: 1 }, run('x'.repeat(9000)), run('\0'.repeat(1400)), run('a/b'), { is: 'wish', block: 1 }];
  const payloads = payloadsOf('me', items);
  for (const payload of payloads) t.ok(Buffer.byteLength(payload) < 8000);
  t.same(
    payloads.flatMap((payload) => noticeOf(payload)?.items ?? []),
    [items[0], items[3], items[4]],
  );
});

t.test('of a notice, what does not have its form is left out', async (t) => {
  const good: Item[] = [
    { is: 'follow', block: 1, since: 0 },
    { is: 'step', block: 1, step: content(3, 'abc') },
    { is: 'moved', name: 'ada' },
    { is: 'setting' },
    { is: 'run', fact: { name: 'tool.called', block: 'ada', id: 'm1', call: '1.1', tool: 'a/b' } },
    { is: 'run', fact: { name: 'approval.decided', block: 'ada', id: 'm1', approval: 'p', tool: 'a/b', state: 'denied' } },
    { is: 'test', id: 't' },
  ];
  const bad = [
    null,
    7,
    [],
    { is: 7 },
    { is: 'constructor' },
    { is: 'work' },
    { is: 'wish', block: '1' },
    { is: 'document', block: 1, kind: {} },
    { is: 'moved', name: null },
    { is: 'follow', block: 1 },
    { is: 'step', block: 1 },
    { is: 'step', block: 1, step: { seq: 3, event: 'content', id: 'm' } },
    { is: 'step', block: 1, step: { seq: '3', event: 'start', id: 'm' } },
    { is: 'run' },
    { is: 'run', fact: { name: 'block.changed', block: 'ada', id: 'm1', call: '1.1' } },
    { is: 'run', fact: { name: 'tool.finished', block: 'ada', id: 'm1' } },
    { is: 'run', fact: { name: 'approval.requested', block: 'ada', id: 'm1', call: '1.1' } },
    { is: 'run', fact: { name: 'tool.called', block: 7, id: 'm1', call: '1.1' } },
    { is: 'test' },
  ];
  t.same(noticeOf(JSON.stringify({ v: 1, from: 'x', items: [...bad, ...good] }))?.items, good);
});
