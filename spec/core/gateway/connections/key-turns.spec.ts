// What becomes of a key that is kept for a call. Which keys a call has been made with is in key-ring.spec.ts.
import t from 'tap';
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
