import t, { type Test } from 'tap';
import { SESSION_AT, Session } from '../../../../transports/dashboard/data/session.ts';
import { MemoryShelf } from '../../../support/shelf.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-24T12:00:00Z');
const kept = (key: string, days: number): string => JSON.stringify({ key, expiresAt: new Date(NOW + days * DAY_MS).toISOString() });

interface Asked {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A session whose server gives these answers, one for each request. */
function begun(answers: readonly (Response | Error)[], text?: string) {
  const shelf = new MemoryShelf();
  if (text !== undefined) shelf.setItem(SESSION_AT, text);
  const asked: Asked[] = [];
  const left = [...answers];
  const fetch = async (path: string, init: RequestInit): Promise<Response> => {
    asked.push({ path, ...init } as Asked);
    const answer = left.shift() ?? new Error('nobody answers');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { session: new Session(shelf, fetch), shelf, asked };
}

const good = (key: string): Response => Response.json({ key, expiresAt: new Date(NOW + 30 * DAY_MS).toISOString() });
const refused = (): Response => Response.json({ error: 'The token is wrong.' }, { status: 401 });

t.test('without a key the form comes, and nothing is asked', async (t) => {
  const { session, asked } = begun([]);
  t.equal(session.signIn.value, 'unsure');
  session.begin();
  t.equal(session.signIn.value, 'out');
  t.equal(asked.length, 0);
});

t.test('a key is used as it is', async (t) => {
  const { session, asked } = begun([], kept('one', 16));
  session.begin();
  t.equal(session.signIn.value, 'in');
  t.equal(session.key, 'one');
  t.equal(asked.length, 0);
});

t.test('what another program has left in its place is no session, and is removed', async (t) => {
  for (const text of ['{', '"text"', '{"key":1,"expiresAt":"2026"}', 'null']) {
    const { session, shelf } = begun([], text);
    session.begin();
    t.equal(session.signIn.value, 'out', text);
    t.equal(shelf.getItem(SESSION_AT), null, text);
  }
});

t.test('a token that the server does not know is refused in the words of the form', async (t) => {
  const { session } = begun([refused()]);
  t.equal(await session.signInWith({ token: 'wrong', refused: 'Paste another one.' }), 'Paste another one.');
});

t.test('signing in keeps the new key and forgets code and token; a refusal is told in the words of the server', async (t) => {
  const { session, shelf, asked } = begun([refused(), good('one'), good('two')]);
  t.equal(await session.signInWith({ token: 'wrong' }), 'The token is wrong.');
  t.equal(session.key, undefined);
  t.equal(await session.signInWith({ token: 'master' }), undefined);
  t.equal(session.signIn.value, 'in');
  t.equal(await session.signInWith({ code: 'once' }), undefined);
  t.match(asked.at(-1), { body: '{"code":"once"}' });
  t.notMatch(JSON.stringify([...shelf.items]), /master|once/);
});

t.test('the server that takes a key no more ends the session; renewing it fails and asks once', async (t) => {
  const { session, asked } = begun([refused()], kept('one', 20));
  session.begin();
  t.equal(await session.renew(), false);
  t.equal(asked.length, 1);
  session.end();
  t.equal(session.signIn.value, 'out');
});

/** Two tabs over one storage, which the browser tells of each other's changes. */
function twoTabs(t: Test): readonly [Session, Session] {
  const { session: one, shelf } = begun([good('one')]);
  const other = new Session(shelf, () => Promise.reject(new Error('nobody answers')));
  t.equal(other.key, undefined);
  return [one, other];
}

t.test('one-tab-tells-all: signing in and out in one tab does so in the other', async (t) => {
  const [one, other] = twoTabs(t);
  await one.signInWith({ token: 'master' });
  other.changed('blockhouse.theme');
  t.equal(other.signIn.value, 'unsure');
  other.changed(SESSION_AT);
  t.equal(other.signIn.value, 'in');
  t.equal(other.key, 'one');
  one.signOut();
  t.equal(one.signIn.value, 'out');
  other.changed(SESSION_AT);
  t.equal(other.signIn.value, 'out');
  t.equal(other.key, undefined);
});
