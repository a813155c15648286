import t from 'tap';
import { Patience } from '../../../../core/store/postgres/patience.ts';
import { fakeTimers } from '../../../support/fake-timers.ts';

const REFUSED = { code: 'STORE_UNREACHABLE', retryable: true, retryAfterMs: 1000 };

t.test('no-place-in-vain: who asks a database that does not answer waits for a while, and then hardly', async (t) => {
  const tick = fakeTimers(t);
  let now = 0;
  const patience = new Patience({ clock: () => now });
  const never = new Promise<true>(() => undefined);
  const pass = async (ms: number): Promise<void> => {
    now += ms;
    await tick(ms);
  };
  const asked = (): { readonly refused: () => boolean; readonly end: Promise<unknown> } => {
    let isRefused = false;
    const end = t.rejects(
      patience.waitFor(never).finally(() => {
        isRefused = true;
      }),
      REFUSED,
    );
    return { refused: () => isRefused, end };
  };

  t.equal(await patience.waitFor(Promise.resolve('an answer')), 'an answer');
  await t.rejects(patience.waitFor(Promise.reject(new Error('of its own'))), { message: 'of its own' });
  patience.heard();

  const first = asked();
  await pass(4000);
  const second = asked();
  await pass(900);
  t.notOk(first.refused());
  await pass(100);
  await Promise.all([first.end, second.end]);
  const third = asked();
  await pass(50);
  await third.end;

  patience.heard();
  const fourth = asked();
  await pass(4900);
  t.notOk(fourth.refused(), 'it has answered meanwhile');
  await pass(100);
  await fourth.end;

  patience.heard();
  const few = Array.from({ length: 16 }, asked);
  const beside = asked();
  await pass(1000);
  await beside.end;
  t.notOk(
    few.some(({ refused }) => refused()),
    'few-places',
  );
  await pass(4000);
  await Promise.all(few.map(({ end }) => end));

  await pass(5001);
  const fifth = asked();
  await pass(4900);
  t.notOk(fifth.refused(), 'nobody has asked for long');
  await pass(100);
  await fifth.end;
});
