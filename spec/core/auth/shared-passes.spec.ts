import { createHmac } from 'node:crypto';
import t, { type Test } from 'tap';
import { Sessions } from '../../../core/auth/sessions.ts';
import { SharedPasses } from '../../../core/auth/shared-passes.ts';
import { PostgresPasses } from '../../../core/store/postgres/passes.ts';
import type { PassStore } from '../../../core/store/passes.ts';
import { migrated } from '../../support/migrated.ts';
import { noPostgres } from '../../support/postgres.ts';

interface World {
  token: string | undefined;
  ms: number;
  /** Questions to the store. */
  asked: number;
}

/** Two servers of one database, and what they ask of it. */
async function servers(t: Test) {
  const { database, open, ask } = await migrated(t);
  const world: World = { token: 'one', ms: 0, asked: 0 };
  const sign = (text: string): string | undefined => world.token && createHmac('sha256', world.token).update(text).digest('base64url');
  const of = (store: PassStore): Sessions => {
    const counted: PassStore = {
      add: (...given) => store.add(...given),
      kindOf: (text) => {
        world.asked += 1;
        return store.kindOf(text);
      },
      take: (...given) => {
        world.asked += 1;
        return store.take(...given);
      },
    };
    const passes = new SharedPasses(counted, { sign }, () => world.ms);
    return new Sessions({ sign }, Date.now, passes, passes);
  };
  return { world, ask, a: of(new PostgresPasses(database)), b: of(new PostgresPasses(await open())) };
}

async function accepts(sessions: Sessions, key: string): Promise<boolean> {
  await sessions.look(key);
  return sessions.accepts(key);
}

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('a session that was made at one server holds at the other, and its end holds everywhere', async (t) => {
    const { world, ask, a, b } = await servers(t);
    const { text } = (await b.exchange((await a.newCode()).text)) ?? { text: '' };
    t.same([await accepts(a, text), await accepts(b, text)], [true, true]);
    const renewed = (await a.renewed(text))?.text ?? '';
    t.equal(await accepts(b, renewed), true);
    await ask('delete from bh.pass');
    t.equal(b.look(text), undefined, 'for a second it is taken to hold');
    world.ms += 1000;
    t.same([await accepts(a, text), await accepts(b, text), await accepts(b, renewed)], [false, false, false]);
    t.equal(await a.renewed(text), undefined);
    const next = (await a.newKey()).text;
    world.token = 'two';
    t.equal(await accepts(a, next), false, 'the token was replaced');
    world.token = undefined;
    await t.rejects(a.newKey());
  });

  t.test('a code or a ticket of one server opens once, at whichever', async (t) => {
    const { a, b } = await servers(t);
    const code = (await a.newCode()).text;
    const keys = await Promise.all([a, b, a, b].map((each) => each.exchange(code)));
    t.equal(keys.filter((key) => key !== undefined).length, 1);
    const ticket = (await b.newTicket()).text;
    t.equal(await a.exchange(ticket), undefined, 'a ticket is no code');
    t.same((await Promise.all([a, b].map((each) => each.redeem(ticket)))).sort(), [false, true]);
    const own = (await a.newCode(60_000, 'owner')).text;
    t.same([await b.isForOwner(own), await b.isForOwner((await a.newCode()).text)], [true, false]);
    t.ok(await b.exchange(own));
  });

  t.test('who guesses costs the database nothing', async (t) => {
    const { world, a } = await servers(t);
    const { text } = await a.newKey();
    const guesses = ['', 'bhs_', `bhs_${'x'.repeat(60)}`, `${text}x`, text.slice(0, -1), 'x'.repeat(22), 'x'.repeat(33)];
    for (const guess of guesses)
      t.same([a.look(guess), a.accepts(guess), await a.exchange(guess), await a.redeem(guess)], [undefined, false, undefined, false]);
    t.equal(world.asked, 0);
    t.equal(a.accepts(text), false, 'a key that was not looked up');
  });
});
