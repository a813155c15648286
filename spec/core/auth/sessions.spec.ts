import { createHmac } from 'node:crypto';
import t from 'tap';
import { CODE_MS, LocalPasses, PRINTED_CODE_MS, Sessions } from '../../../core/auth/sessions.ts';

function create(begin = 1_800_000_000_000) {
  const world = { token: 'one' as string | undefined, now: begin };
  const sign = (text: string): string | undefined =>
    world.token === undefined ? undefined : createHmac('sha256', world.token).update(text).digest('base64url');
  return { world, sessions: new Sessions({ sign }, () => world.now), again: () => new Sessions({ sign }, () => world.now) };
}

t.test('case 1: a code works once, and not after its minute; one that is printed, for ten', async (t) => {
  const { world, sessions } = create();
  const { text, expiresAt } = await sessions.newCode();
  t.equal(expiresAt, new Date(world.now + CODE_MS).toISOString());
  t.ok(await sessions.exchange(text));
  t.notOk(await sessions.exchange(text), 'the second use');
  const late = (await sessions.newCode()).text;
  world.now += CODE_MS;
  t.notOk(await sessions.exchange(late), 'the 61st second');
  const printed = (await sessions.newCode(PRINTED_CODE_MS)).text;
  world.now += PRINTED_CODE_MS - 1;
  t.ok(await sessions.exchange(printed));
  t.notOk(await sessions.exchange('guess'));
  t.notOk(await sessions.exchange(''));
});

t.test('sixteen codes are kept, and a further one drops the oldest', async (t) => {
  const { sessions } = create();
  const codes = await Promise.all(Array.from({ length: 17 }, async () => (await sessions.newCode()).text));
  t.notOk(await sessions.exchange(codes[0] ?? ''));
  for (const code of codes.slice(1)) t.ok(await sessions.exchange(code));
});

t.test('case 3: a session key outlives the process, and ends with its month, with the token, or with one bit changed', async (t) => {
  const { world, sessions, again } = create();
  const { text } = await sessions.newKey();
  t.ok(sessions.accepts(text));
  t.ok(again().accepts(text), 'after a restart');
  for (let index = 0; index < text.length; index += 1) {
    for (const bit of [1, 2, 4, 8, 16, 32]) {
      const changed = text.slice(0, index) + String.fromCharCode(text.charCodeAt(index) ^ bit) + text.slice(index + 1);
      if (sessions.accepts(changed)) t.fail(`accepted ${changed}`);
    }
  }
  for (const wrong of ['', 'bhs_', 'bhs_.', text.slice(0, -1), `${text}=`, `${text}.`, text.replace('bhs_', 'bh_')]) t.notOk(sessions.accepts(wrong), wrong);
  world.now += 30 * 24 * 3600 * 1000 - 1;
  t.ok(sessions.accepts(text));
  world.now += 1;
  t.notOk(sessions.accepts(text), 'after 30 days');
  const next = (await sessions.newKey()).text;
  world.token = 'two';
  t.notOk(sessions.accepts(next), 'the token was replaced');
  world.token = undefined;
  t.notOk(sessions.accepts(next), 'there is no token');
  await t.rejects(sessions.newKey());
});

t.test('case 6: a ticket opens one thing, within 30 s', async (t) => {
  const { world, sessions } = create();
  const { text } = await sessions.newTicket();
  t.ok(await sessions.redeem(text));
  t.notOk(await sessions.redeem(text));
  const late = (await sessions.newTicket()).text;
  world.now += 30_000;
  t.notOk(await sessions.redeem(late));
  t.notOk(sessions.accepts(late), 'a ticket is no key');
  t.notOk(await sessions.exchange(late), 'and no code');
});

t.test('a new token ends the codes and tickets of the old one', async (t) => {
  const { world, sessions } = create();
  const [code, ticket] = [(await sessions.newCode(PRINTED_CODE_MS)).text, (await sessions.newTicket()).text];
  world.token = 'two';
  t.notOk(await sessions.exchange(code));
  t.notOk(await sessions.redeem(ticket));
  world.token = undefined;
  const unsigned = (await sessions.newTicket()).text;
  t.notOk(await sessions.redeem(unsigned), 'nothing opens without a token');
});

t.test('one-token: what a process makes that has not seen a new token yet is good nowhere, though the process that keeps it has seen it', async (t) => {
  const signWith = (token: () => string) => (text: string) => createHmac('sha256', token()).update(text).digest('base64url');
  const world = { primary: 'one', worker: 'one' };
  const passes = new LocalPasses({ sign: signWith(() => world.primary) });
  const worker = new Sessions({ sign: signWith(() => world.worker) }, Date.now, passes);
  world.primary = 'two';
  const [code, ticket] = [(await worker.newCode()).text, (await worker.newTicket()).text];
  world.worker = 'two';
  t.equal(await worker.exchange(code), undefined);
  t.equal(await worker.isForOwner(code), false);
  t.equal(await worker.redeem(ticket), false);
});

t.test('one-token: a ticket opens nothing if the token is replaced while another process takes it', async (t) => {
  const world = { token: 'one' };
  const sign = (text: string): string => createHmac('sha256', world.token).update(text).digest('base64url');
  const kept = new LocalPasses({ sign });
  const passes = {
    add: kept.add.bind(kept),
    holderOf: kept.holderOf.bind(kept),
    take: async (...given: Parameters<LocalPasses['take']>) => {
      const isTaken = await kept.take(...given);
      world.token = 'two';
      return isTaken;
    },
  };
  const sessions = new Sessions({ sign }, Date.now, passes);
  t.equal(await sessions.redeem((await sessions.newTicket()).text), false);
  world.token = 'one';
  await t.rejects(sessions.exchange((await sessions.newCode()).text), { code: 'UNAUTHORIZED' }, 'a code makes no session either');
});

t.test('one-token: nothing is made for a secret that is wrong by the time at which it is signed', async (t) => {
  let signs = Number.POSITIVE_INFINITY;
  const sign = (text: string): string => {
    signs -= 1;
    return createHmac('sha256', signs < 0 ? 'two' : 'one')
      .update(text)
      .digest('base64url');
  };
  const sessions = new Sessions({ sign });
  const wrong = { code: 'UNAUTHORIZED', message: /was replaced/ };
  await t.rejects(
    sessions.newKey(() => false),
    wrong,
  );
  await t.rejects(
    sessions.newCode(CODE_MS, 'anybody', () => false),
    wrong,
  );
  await t.rejects(
    sessions.newTicket('', () => false),
    wrong,
  );
  const makers = {
    renewed: async () => {
      const { text } = await sessions.newKey();
      return () => sessions.renewed(text);
    },
    exchange: async () => {
      const { text } = await sessions.newCode();
      return () => sessions.exchange(text);
    },
  };
  for (const [name, maker] of Object.entries(makers)) {
    for (let left = 0; left < 10; left += 1) {
      signs = Number.POSITIVE_INFINITY;
      const make = await maker();
      signs = left;
      const key = await make().catch((error: Error) => {
        t.match(error, wrong);
        return undefined;
      });
      if (signs < 0) t.equal(sessions.accepts(key?.text ?? ''), false, `${name}, replaced before signature ${left}`);
    }
  }
});

t.test('codes that have ended make room before one that is still valid', async (t) => {
  const { world, sessions } = create();
  const printed = (await sessions.newCode(PRINTED_CODE_MS)).text;
  for (let count = 0; count < 15; count += 1) await sessions.newCode();
  world.now += CODE_MS;
  await sessions.newCode();
  t.ok(await sessions.exchange(printed));
});

t.test("a code for the owner is told apart while it is valid, and a look at it doesn't use it up", async (t) => {
  const { world, sessions } = create();
  const [own, any] = [(await sessions.newCode(CODE_MS, 'owner')).text, (await sessions.newCode()).text];
  t.strictSame(
    [await sessions.isForOwner(own), await sessions.isForOwner(own), await sessions.isForOwner(any), await sessions.isForOwner('guess')],
    [true, true, false, false],
  );
  t.ok(await sessions.exchange(own));
  t.notOk(await sessions.isForOwner(own), 'it was used');
  const late = (await sessions.newCode(CODE_MS, 'owner')).text;
  world.now += CODE_MS;
  t.notOk(await sessions.isForOwner(late));
});

t.test('a clock that is set back ends codes and tickets, instead of keeping them for longer', async (t) => {
  const { world, sessions } = create();
  const [code, ticket] = [(await sessions.newCode()).text, (await sessions.newTicket()).text];
  world.now -= 3_600_000;
  t.notOk(await sessions.exchange(code));
  t.notOk(await sessions.redeem(ticket));
});

t.test('a renewed key ends with the one before it, so nobody stays for longer than 30 days after signing in', async (t) => {
  const { world, sessions } = create();
  const first = await sessions.newKey();
  world.now += 29 * 24 * 3600 * 1000;
  const second = await sessions.renewed(first.text);
  t.equal(second?.expiresAt, first.expiresAt);
  t.not(second?.text, first.text);
  t.ok(sessions.accepts(second?.text ?? ''));
  const third = await sessions.renewed(second?.text ?? '');
  t.equal((await sessions.renewed(third?.text ?? ''))?.expiresAt, first.expiresAt);
  for (const wrong of ['', 'bhs_', `${first.text}x`, 'bh_token']) t.equal(await sessions.renewed(wrong), undefined, wrong);
  world.now += 24 * 3600 * 1000;
  t.notOk(sessions.accepts(second?.text ?? ''));
  t.equal(await sessions.renewed(second?.text ?? ''), undefined);
});
