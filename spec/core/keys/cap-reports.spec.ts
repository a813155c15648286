import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { CapReports } from '../../../core/keys/cap-reports.ts';
import type { NamedKey } from '../../../core/keys/named-key.ts';
import type { NoRoom } from '../../../core/store/port.ts';

const HOUR = 3_600_000;
const key = { name: 'my-app' } as NamedKey;
const room = (more: Partial<NoRoom> = {}): NoRoom => ({
  bound: { kind: 'key', name: 'my-app' },
  cap: '5 USD a day',
  isUnderWay: false,
  resets: 'at 00:00 UTC',
  retryAfterMs: 2 * HOUR,
  ...more,
});

function reports() {
  let at = Date.parse('2026-11-22T22:00:00.000Z');
  const bus = createBus();
  const facts: object[] = [];
  bus.on('key.capped', (fact) => void facts.push(fact));
  const caps = new CapReports({ bus, now: () => at });
  const refuse = (answer: NoRoom): string => {
    try {
      caps.assertRoom(key, answer);
    } catch (error) {
      return (error as Error).message;
    }
    return 'allowed';
  };
  return { caps, facts, refuse, pass: (ms: number) => (at += ms) };
}

t.test('the caller learns which cap is reached and until when; the owner, once a period, which command raises it', async (t) => {
  const { caps, facts, refuse, pass } = reports();
  caps.assertRoom(key, true);
  t.equal(refuse(room()), 'The key my-app has reached its cap of 5 USD a day. It may be used again at 00:00 UTC.', 'not-to-callers');
  const told = { key: 'my-app', group: null, cap: '5 USD a day', resets: 'at 00:00 UTC', raise: 'blockhouse key set my-app --usd-per-day <amount>' };
  t.strictSame(facts, [told]);
  pass(HOUR);
  refuse(room({ retryAfterMs: HOUR }));
  t.equal(facts.length, 1, 'once-a-period');
  pass(24 * HOUR);
  refuse(room({ retryAfterMs: HOUR }));
  t.equal(facts.length, 2, 'again on the next day');
  refuse(room({ retryAfterMs: HOUR, cap: '10 USD a day' }));
  t.equal(facts.length, 3, 'another cap is another fact');
});

t.test('the command is that of the key or of the group whose cap it is', async (t) => {
  const { facts, refuse } = reports();
  t.match(refuse(room({ bound: { kind: 'group', name: 'team' }, cap: '1000 tokens a month' })), /^The keys of the group team, one of which is my-app,/);
  refuse(room({ cap: '20 USD a week' }));
  t.match(facts, [
    { group: 'team', raise: 'blockhouse key group set team --tokens-per-month <count>' },
    { raise: 'blockhouse key set my-app --usd-per-week <amount>' },
  ]);
});

t.test('calls under way that may use up a cap are no reason to raise it', async (t) => {
  const { facts, refuse } = reports();
  t.match(refuse(room({ isUnderWay: true })), /under way may use up its cap of 5 USD a day\. Try again when one of them has ended\.$/);
  t.match(refuse(room({ isUnderWay: true, bound: { kind: 'group', name: 'team' } })), /the group team, to which the key my-app belongs/);
  t.strictSame(facts, []);
});
