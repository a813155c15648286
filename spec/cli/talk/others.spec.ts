import t, { type Test } from 'tap';
import { Others } from '../../../cli/talk/others.ts';
import { styleFor } from '../../../cli/terminal/output.ts';
import { answer, startFakeBlockServer } from '../../support/fake-block-server.ts';
import { until } from '../../support/until.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const at = new Date(NOW - 60_000).toISOString();
const message = (id: string, more: object = {}) => ({
  id,
  role: 'user',
  content: `text of ${id}`,
  timestamp: at,
  processed: false,
  status: 'queued',
  channel: 'api',
  ...more,
});
const reply = (id: string, replyTo: string) => message(id, { role: 'assistant', status: 'done', content: `answer to ${replyTo}`, replyTo });

/** A talk whose terminal is what the test says. */
async function watch(t: Test, past: readonly object[] = []) {
  let entries = [...past];
  let looks = 0;
  const { api } = await startFakeBlockServer(t, (_call, res) => {
    looks += 1;
    answer(res, { messages: entries });
  });
  const shown: string[] = [];
  const terminal = { isFree: true, isBusy: false };
  const own = new Set<string>();
  const others = new Others({
    api,
    block: 'ada',
    view: () => ({ now: NOW, width: 80, style: styleFor(false) }),
    show: (lines) => {
      if (terminal.isFree) shown.push(...lines);
      return terminal.isFree;
    },
    isOwn: (id) => own.has(id),
    isBusy: () => terminal.isBusy,
  });
  t.teardown(() => others.close());
  others.changed();
  await until('the conversation so far is read', () => looks === 1);
  const looked = async (): Promise<void> => {
    const before = looks;
    others.changed();
    await until('it is read again', () => looks > before);
  };
  return {
    shown,
    terminal,
    own,
    looked,
    set: (...next: object[]) => {
      entries = [...past, ...next];
      others.changed();
    },
  };
}

t.test('what another block sends and what it is answered are shown once each, with the sender', async (t) => {
  const talk = await watch(t, [message('m0', { status: 'done' })]);
  const chain = [{ via: 'block', block: 'eve' }];
  talk.set(message('m1', { channel: 'block', chain }));
  await until('the message is shown', () => talk.shown.length > 0);
  t.same(talk.shown.splice(0), ['block eve  1m ago  queued  m1', 'text of m1']);
  talk.set(message('m1', { channel: 'block', chain, status: 'processing' }));
  await talk.looked();
  talk.set(message('m1', { channel: 'block', chain, status: 'done' }), reply('a1', 'm1'));
  await until('the answer is shown', () => talk.shown.length > 0);
  t.same(talk.shown, ['ada  1m ago  a1', 'answers m1', 'answer to m1']);
  await talk.looked();
  t.equal(talk.shown.length, 3, 'once-each');
});

t.test('what was sent in this talk is not shown again', async (t) => {
  const talk = await watch(t);
  talk.own.add('m1');
  talk.set(message('m1', { status: 'done' }), reply('a1', 'm1'), message('m2', { status: 'done' }), reply('a2', 'm2'));
  await until('the other is shown', () => talk.shown.length > 0);
  t.same(talk.shown, ['you  1m ago  m2', 'text of m2', '', 'ada  1m ago  a2', 'answer to m2']);
});

t.test('not-in-between: it waits while something is typed or a reply is shown', async (t) => {
  const talk = await watch(t);
  talk.terminal.isFree = false;
  talk.set(message('m1'));
  await talk.looked();
  await talk.looked();
  talk.terminal.isBusy = true;
  talk.terminal.isFree = true;
  talk.set(message('m1'), message('m2'));
  t.same(talk.shown, []);
  talk.terminal.isBusy = false;
  await until('both are shown', () => talk.shown.length > 3);
  t.match(talk.shown, [/m1$/, 'text of m1', '', /m2$/]);
});

t.test('a message that fails or waits for a decision is told of, and the decision is left to /show', async (t) => {
  const talk = await watch(t, []);
  talk.set(message('m1', { status: 'processing' }));
  await until('it is shown', () => talk.shown.length > 0);
  talk.shown.splice(0);
  talk.set(message('m1', { status: 'waiting-approval' }));
  await until('the wait is told', () => talk.shown.length > 0);
  t.match(talk.shown.splice(0), [/waiting-approval +m1$/, 'text of m1', 'note: a call waits for a decision; /show shows it.']);
  talk.set(message('m1', { status: 'processing' }));
  await talk.looked();
  t.same(talk.shown, [], 'that it goes on is no news');
  talk.set(message('m1', { status: 'failed', error: { code: 'X', message: 'No way.', retryable: false } }));
  await until('the failure is told', () => talk.shown.length > 0);
  t.match(talk.shown, [/failed +m1$/, 'text of m1', 'No way.']);
});
