import t from 'tap';
import { entriesOf, exchangesFrom } from '../../../../core/block/reply/exchanges.ts';
import type { ChatEntry } from '../../../../core/schemas/chat-entry.ts';
import { answerEntry as answer, pair, userEntry as user } from '../../../support/block-files.ts';

const idsFrom = (firstKeptId: string | null, history: readonly ChatEntry[]): string =>
  exchangesFrom(firstKeptId, history)
    .map((exchange) =>
      entriesOf(exchange)
        .map(({ id }) => id)
        .join('+'),
    )
    .join(' ');

t.test('each question is followed by its answers, in the order of the questions', async (t) => {
  const cases: [title: string, history: ChatEntry[], shown: string][] = [
    ['nothing', [], ''],
    ['one exchange', pair('1'), '1+1a'],
    ['answers that came in another order', [user('1'), user('2'), answer('4', '2'), answer('3', '1')], '1+3 2+4'],
    ['several answers', [user('1'), answer('2', '1', { status: 'interrupted' }), answer('3', '1')], '1+2+3'],
    ['an interrupted answer', [user('1'), answer('2', '1', { status: 'interrupted' })], '1+2'],
    ['a hand-written answer', [user('1'), answer('2')], '1+2'],
    ['hand-written answers after a later message', [user('1'), answer('2', '1'), user('3', { status: 'queued' }), answer('4')], '1+2'],
    ['a hand-written answer before any message', [answer('1'), user('2'), answer('3', '2')], '2+3'],
  ];
  for (const [title, history, shown] of cases) t.equal(idsFrom(null, history), shown, title);
});

t.test('of the versions of a message, the last one with an answer stands for all', async (t) => {
  const again = (id: string, replaces: string, fields: Partial<ChatEntry> = {}) => [user(id, { replaces, ...fields }), answer(`${id}a`, id)];
  t.equal(idsFrom(null, [...pair('1'), ...again('2', '1'), ...pair('3')]), '2+2a 3+3a');
  t.equal(idsFrom(null, [...pair('1'), ...again('2', '1'), ...again('3', '2')]), '3+3a', 'a version of a version');
  t.equal(idsFrom(null, [...pair('1'), user('2', { replaces: '1', status: 'cancelled' })]), '1+1a', 'the new one has no answer');
  t.equal(idsFrom(null, [...pair('1'), user('2', { replaces: '1', status: 'failed' }), ...again('3', '2')]), '3+3a', 'one between has no answer');
  t.equal(idsFrom(null, [user('1', { replaces: '1' }), answer('1a', '1'), ...again('2', '3'), ...again('3', '2')]), '1+1a 3+3a', 'a circle, made by hand');
  t.same(
    exchangesFrom(null, [...pair('1'), ...pair('2'), user('3', { replaces: '2', status: 'processing' })], '3').map(({ question }) => question.id),
    ['1'],
    'what is asked now takes the place of its earlier version',
  );
});

t.test('a question without an answer is left out, and an answer without a question too', async (t) => {
  for (const status of ['queued', 'processing', 'failed', 'cancelled', 'expired'] as const)
    t.equal(idsFrom(null, [user('1', { status }), answer('2', '1'), ...pair('3')]), '3+3a', status);
  t.equal(idsFrom(null, [user('1'), ...pair('2')]), '2+2a', 'a question without an answer');
  t.equal(idsFrom(null, [answer('1', 'gone'), ...pair('2')]), '2+2a', 'an answer whose question is gone');
  t.equal(idsFrom(null, [user('1'), answer('2', '1', { status: 'failed' })]), '', 'a failed answer');
  t.equal(idsFrom(null, [user('1'), answer('2', '1', { content: ' \n' })]), '', 'a blank answer');
  t.equal(idsFrom(null, [user('1', { content: '\t' }), answer('2', '1')]), '', 'a blank question');
});

t.test('the window begins at an entry or between two entries', async (t) => {
  const history = [...pair('10'), ...pair('20'), ...pair('30')];
  t.equal(idsFrom('20', history), '20+20a 30+30a');
  t.equal(idsFrom('10a', history), '20+20a 30+30a', 'an answer whose question lies before the border is not shown');
  t.equal(idsFrom('15', history), '20+20a 30+30a', 'an id that is gone');
  t.equal(idsFrom('20 ', history), '30+30a', 'an id right behind another');
  t.equal(idsFrom('99', history), '', 'an id behind all');
  t.equal(idsFrom('', history), '10+10a 20+20a 30+30a');
  t.equal(idsFrom('2', [user('3'), user('2'), answer('4', '2'), answer('5', '3')]), '2+4', 'position counts, not the id');
});
