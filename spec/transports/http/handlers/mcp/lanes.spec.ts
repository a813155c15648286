import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { inLane } from '../../../../../transports/http/handlers/mcp/lanes.ts';
import { unreadAnswers } from '../../../../../transports/http/wire/unread-answers.ts';

type Sender = Parameters<typeof inLane>[0];

const core = {};
function sender(caller: string, signal = new AbortController().signal): Sender {
  const res = {};
  unreadAnswers.belongs(res as never, caller);
  return { core, res, signal } as unknown as Sender;
}

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await turn();
}

t.test('one caller reads one after the other, and another one beside it', async (t) => {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const read = (caller: string, name: string): Promise<string> =>
    inLane(sender(caller), async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      if (name === 'a1') throw new Error('fails');
      return name;
    });
  const a1 = t.rejects(read('key a', 'a1'), { message: 'fails' });
  const a2 = read('key a', 'a2');
  const b1 = read('key b', 'b1');
  await turns(20);
  t.strictSame(begun, ['a1', 'b1']);
  ends.get('a1')?.();
  await a1;
  await turns(20);
  t.strictSame(begun, ['a1', 'b1', 'a2'], 'one that fails holds up nothing');
  for (const end of ends.values()) end();
  t.strictSame(await Promise.all([a2, b1]), ['a2', 'b1']);
});

t.test('nothing is read for a client that has left', async (t) => {
  const gone = new AbortController();
  let end: (() => void) | undefined;
  const first = inLane(sender('key a'), () => new Promise<void>((resolve) => (end = resolve)));
  const second = inLane(sender('key a', gone.signal), async () => t.fail('it was read'));
  await turns(20);
  gone.abort();
  end?.();
  await first;
  await t.rejects(second, { code: 'CANCELLED' });
  t.equal(await inLane(sender('key a'), async () => 'next'), 'next');
});
