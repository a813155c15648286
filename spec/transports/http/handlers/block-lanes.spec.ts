import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { inLane, inSendingLane, pageOfBlocks } from '../../../../transports/http/handlers/block-lanes.ts';
import { unreadAnswers } from '../../../../transports/http/wire/unread-answers.ts';

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

t.test('of the messages of one caller a few are sent beside each other, and what it reads beside them', async (t) => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const send = (caller: string, name: string, lane = inSendingLane): Promise<void> =>
    lane(sender(caller), () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = [send('key a', 'a1'), send('key a', 'a2'), send('key a', 'a3'), send('key b', 'b1'), send('key a', 'read', inLane)];
  await turns(20);
  t.strictSame(begun.sort(), ['a1', 'a2', 'b1', 'read']);
  ends[0]?.();
  await turns(20);
  t.equal(begun.at(-1), 'a3');
  for (const end of ends) end();
  await Promise.all(all);
});

t.test('read-together: a page of the list of blocks is read once at a time for all, and after each has asked', async (t) => {
  const reads: { readonly limit: number; end(isFailed?: boolean): void }[] = [];
  const page = ({ limit }: { readonly limit: number }): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const number = reads.length;
      reads.push({ limit, end: (isFailed = false) => (isFailed ? reject(new Error('away')) : resolve({ number })) });
    });
  const ofBlocks = { blocks: { page } } as unknown as Parameters<typeof pageOfBlocks>[0];
  const first = pageOfBlocks(ofBlocks, { limit: 5 });
  const others = Array.from({ length: 100 }, () => pageOfBlocks(ofBlocks, { limit: 5 }));
  const another = pageOfBlocks(ofBlocks, { limit: 6 });
  await turns(5);
  t.strictSame(
    reads.map(({ limit }) => limit),
    [5, 6],
  );
  reads[0]?.end(true);
  await t.rejects(first, { message: 'away' });
  await turns(5);
  t.equal(reads.length, 3);
  for (const { end } of reads) end();
  t.strictSame(
    await Promise.all(others),
    Array.from({ length: 100 }, () => ({ number: 2 })),
    'not what was read before they asked',
  );
  t.strictSame(await another, { number: 1 });
  await turns(5);
  void pageOfBlocks(ofBlocks, { limit: 5 });
  t.equal(reads.length, 4, 'nothing is kept');
});
