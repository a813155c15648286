import t from 'tap';
import type { Caps, PeriodSums } from '../../../../core/store/port.ts';
import { askGrants, dayOf, sumsOf } from '../../../../core/store/postgres/asked-grants.ts';
import { PostgresMembership as Membership } from '../../../../core/store/postgres/membership.ts';
import { migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z'); // a Friday
const NO_CAPS = { usdPerDay: null, usdPerWeek: null, usdPerMonth: null, tokensPerDay: null, tokensPerMonth: null };
const NOTHING = { usd: 0, tokens: 0 };
const capped = (name: string, caps: Partial<Caps>): Caps => ({ kind: 'key', name, ...NO_CAPS, ...caps });
const asked = (bound: Caps, wanted = NOTHING) => ({ bound, underWay: NOTHING, wanted });

t.equal(dayOf(NOON), '2026-11-20');

t.test('each account has its own answer, in the order of the questions', { skip: noPostgres }, async (t) => {
  const { database, ask } = await migrated(t);
  const { node } = await Membership.join(database, { version: '1.0.0', url: null });
  await ask(`insert into bh.key_day (key, day, usd, tokens, calls) values
    ('ada', '2026-11-20', 1, 10, 1), ('ada', '2026-11-16', 2, 20, 2), ('ada', '2026-11-15', 4, 40, 4), ('bob', '2026-11-01', 8, 80, 8), ('group:all', '2026-11-20', 9, 90, 9)`);

  const sums = await sumsOf(database.query, ['bob', 'nobody', 'ada'], NOON);
  const found = sums.map((of: PeriodSums) => [of.day, of.week, of.month].map(({ usd, tokens, calls }) => [Number(usd), Number(tokens), Number(calls)]));
  const none = [0, 0, 0];
  t.strictSame(found, [
    [none, none, [8, 80, 8]],
    [none, none, none],
    [
      [1, 10, 1],
      [3, 30, 3],
      [7, 70, 7],
    ],
  ]);

  const questions = [
    asked(capped('zoe', { tokensPerDay: 100 }), { usd: 3, tokens: 30.5 }),
    asked({ ...capped('all', { usdPerDay: 10, tokensPerMonth: 1000 }), kind: 'group' }),
    asked(capped('ada', { usdPerMonth: 9 }), { usd: Number.POSITIVE_INFINITY, tokens: 0 }),
  ];
  const granted = await askGrants(database, node, NOON, questions);
  t.strictSame(
    granted.map(({ usd, tokens, elsewhere }) => [usd, tokens, elsewhere].map((value) => (value === null || typeof value === 'object' ? value : Number(value)))),
    [
      [null, 62, NOTHING],
      [0.5, 455, NOTHING],
      [2, null, NOTHING],
    ],
  );
  t.match(granted[1]?.sums, { day: { calls: 9 }, month: { calls: 9 } });
  t.strictSame(await ask('select key, usd::float8, tokens::int from bh.key_grant order by key'), [
    { key: 'ada', usd: 2, tokens: null },
    { key: 'group:all', usd: 0.5, tokens: 455 },
    { key: 'zoe', usd: null, tokens: 62 },
  ]);
});
