// What becomes of a key that is kept for a call. Which keys a call has been made with is in key-ring.spec.ts.
import t from 'tap';
import { BlockhouseError } from '../../../../core/errors.ts';
import { KeyRing } from '../../../../core/gateway/connections/key-ring.ts';
import { KeyTurns } from '../../../../core/gateway/connections/key-turns.ts';

const call = (client: string) => ({ client, model: 'm', conversation: () => undefined });
const forever = new AbortController().signal;

t.test('a key that was kept for a call is given back when the call fails before it takes one, or needs seconds to go on', async (t) => {
  const ring = new KeyRing('gpu', () => 0, { cooled: () => undefined, recovered: () => undefined });
  ring.use(['a', 'b'].map((label) => ({ label, value: label, variable: undefined, weight: 1, inFlight: 1 })));
  const keys = { ring, settingsOf: () => ({ values: {}, sources: {} }) };
  const holder = async (client: string) => {
    const turns = new KeyTurns(call(client), () => 0);
    t.ok(turns.take(keys));
    return turns;
  };
  const holders = [await holder('one'), await holder('two')];
  const failing = new KeyTurns(call('failing'), () => 0).afterWait(keys, [forever], () => Promise.reject(new Error('its cap is reached')));
  const slow = new KeyTurns(call('slow'), () => 0);
  let goOn = (): void => undefined;
  const waits = slow.afterWait(
    keys,
    [forever],
    () =>
      new Promise<void>((resolve) => {
        goOn = resolve;
      }),
  );
  const polite = new KeyTurns(call('polite'), () => 0);
  const served = polite.afterWait(keys, [forever], async () => polite.take(keys)?.label);
  for (const turns of holders.splice(0, 1)) turns.giveBack();
  await t.rejects(failing, { message: 'its cap is reached' });
  t.equal(await Promise.race([served, new Promise((resolve) => setTimeout(resolve, 10, 'waits'))]), 'waits');
  const keepAlive = setInterval(() => undefined, 1000);
  t.match(await served, /^[ab]$/);
  clearInterval(keepAlive);
  goOn();
  await waits;
  polite.giveBack();
  t.same(ring.states.map(({ inFlight }) => inFlight).sort(), [0, 1]);
});

t.test('an attempt gives its key back however it ends, and a refused key is followed by the other one, then by none', async (t) => {
  const ring = new KeyRing('gpu', () => 0, { cooled: () => undefined, recovered: () => undefined });
  ring.use(['a', 'b'].map((label) => ({ label, value: label, variable: undefined, weight: 1, inFlight: 1 })));
  const keys = { ring, settingsOf: () => ({ values: {}, sources: {} }) };
  const underWay = () => ring.states.reduce((sum, { inFlight }) => sum + inFlight, 0);
  const answered = new KeyTurns(call('one'), () => 0);
  t.equal(
    await answered.make(
      keys,
      async () => underWay(),
      async () => 0,
    ),
    1,
  );
  answered.count({ inputTokens: 2, outputTokens: 1, totalTokens: 3 });
  t.match(answered.label, /^[ab]$/);
  t.throws(
    () =>
      answered.make(
        keys,
        () => {
          throw new Error('not sent');
        },
        async () => 0,
      ),
    { message: 'not sent' },
  );
  t.equal(underWay(), 0);
  const refused = new KeyTurns(call('two'), () => 0);
  const failure = new BlockhouseError('UPSTREAM_AUTH', 'The key is wrong.');
  const made = () =>
    refused.make(
      keys,
      () => Promise.reject(failure),
      async () => refused.failed(failure),
    );
  t.equal(await made(), 'another');
  t.match(await made(), { code: 'UPSTREAM_AUTH' });
  t.equal(underWay(), 0);
  t.equal(refused.failed(new BlockhouseError('UPSTREAM_FAILED', 'It is down.')), undefined, 'which says nothing of a key');
});
