import t from 'tap';
import type { Block } from '../../../core/block/block.ts';
import type { Catalog } from '../../../core/block/catalog.ts';
import { OpenBlocks } from '../../../core/block/open-blocks.ts';
import { gate } from '../../support/stepped-adapter.ts';

/** Stands for a block: what the keeper looks at. */
interface Stub {
  readonly name: string;
  isInUse: boolean;
  isQuiet: boolean;
  isRunning: boolean;
}

interface Opened {
  readonly blocks: OpenBlocks;
  readonly there: Set<string>;
  readonly made: string[];
  readonly swept: string[];
}

function open(names: readonly string[] = ['a', 'b']): Opened {
  const there = new Set(names);
  const made: string[] = [];
  const swept: string[] = [];
  const make = (name: string): Block => {
    made.push(name);
    const stub: Stub = { name, isInUse: false, isQuiet: true, isRunning: false };
    return stub as unknown as Block;
  };
  const catalog = { has: (name: string) => there.has(name) } as unknown as Catalog;
  return { blocks: new OpenBlocks({ catalog, make, sweep: (name) => void swept.push(name) }), there, made, swept };
}

const stub = (block: Block): Stub => block as unknown as Stub;
const many = (count: number, prefix = 'n') => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

t.test('a block has one object, made when it is first wanted, in a folder that was swept before', async (t) => {
  const { blocks, made, swept } = open();
  t.equal(blocks.has('a'), false);
  const a = await blocks.find('a');
  t.equal(await blocks.find('a'), a);
  t.equal(blocks.findNow('a'), a);
  t.same([made, swept], [['a'], ['a']]);
  blocks.prepare('a');
  blocks.prepare('b');
  t.same(swept, ['a', 'b'], 'once');
  t.same(blocks.all(), [a]);
});

t.test('there is no object for a block that there is not', async (t) => {
  const { blocks, there, made } = open();
  await t.rejects(blocks.find('nobody'), { code: 'BLOCK_NOT_FOUND', status: 404 });
  t.throws(() => blocks.findNow('../a'), { code: 'BLOCK_NOT_FOUND' });
  t.same(made, []);
  await blocks.find('a');
  there.delete('a');
  await t.rejects(blocks.find('a'), { code: 'BLOCK_NOT_FOUND' });
  t.equal(blocks.has('a'), false);
});

t.test('a folder that was taken away and comes back has the object that still runs', async (t) => {
  const { blocks, there } = open();
  const a = blocks.findNow('a');
  Object.assign(stub(a), { isInUse: true, isRunning: true });
  there.delete('a');
  t.throws(() => blocks.findNow('a'), { code: 'BLOCK_NOT_FOUND' });
  t.equal(blocks.running, 1);
  t.same(blocks.all(), [a], 'it is stopped with the others');
  there.add('a');
  t.equal(blocks.findNow('a'), a);
});

t.test('while a block moves, whoever wants it waits for the end of the move', async (t) => {
  const { blocks, there } = open();
  let end = (): void => undefined;
  const order: string[] = [];
  const move = blocks.whileMoving('a', async () => {
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    there.delete('a');
    order.push('moved');
    return 5;
  });
  const found = blocks.find('a').catch((error: { code: string }) => order.push(error.code));
  const second = blocks.whileMoving('a', async () => order.push('second'));
  t.throws(() => blocks.findNow('a'), { code: 'BLOCK_NOT_FOUND' });
  t.equal((await blocks.find('b')).name, 'b', 'others do not wait');
  end();
  t.equal(await move, 5);
  await Promise.all([found, second]);
  t.same(order[0], 'moved');
  t.same([...order].sort(), ['BLOCK_NOT_FOUND', 'moved', 'second']);
});

t.test('a move that fails is its caller’s, and the next one goes on', async (t) => {
  const { blocks } = open();
  await t.rejects(
    blocks.whileMoving('a', () => Promise.reject(new Error('full'))),
    { message: 'full' },
  );
  t.equal(await blocks.whileMoving('a', async () => 1), 1);
  t.equal((await blocks.find('a')).name, 'a');
});

t.test('idle blocks beyond two hundred are let go, those that were used last are kept', async (t) => {
  const names = many(300);
  const { blocks } = open(names);
  for (const name of names.slice(0, 200)) blocks.findNow(name);
  blocks.findNow('n0');
  for (const name of names.slice(200)) blocks.findNow(name);
  t.equal(names.filter((name) => blocks.has(name)).length, 200);
  t.same([blocks.has('n0'), blocks.has('n1'), blocks.has('n299')], [true, false, true]);
});

t.test('blocks that are used or have something to write are not let go', async (t) => {
  const names = many(250);
  const { blocks } = open(names);
  stub(blocks.findNow('n0')).isInUse = true;
  stub(blocks.findNow('n1')).isQuiet = false;
  for (const name of names) blocks.findNow(name);
  for (const name of names.slice(2)) blocks.findNow(name);
  t.same([blocks.has('n0'), blocks.has('n1')], [true, true]);
});

t.test('a block that somebody has in hand is found again, however many others came after it', async (t) => {
  const names = many(1000);
  const { blocks, made } = open(names);
  const inHand = names.map((name) => blocks.findNow(name));
  t.equal(blocks.has('n0'), false, 'let go');
  for (const block of inHand) t.equal(blocks.findNow(block.name), block);
  t.equal(made.length, 1000, 'no second object, and so no second writer');
  t.ok(inHand.every((block) => blocks.all().includes(block)));
});

t.test('one that is held before it runs is counted, and kept', async (t) => {
  const names = many(500);
  const { blocks } = open(names);
  const inHand = names.map((name) => blocks.findNow(name));
  const first = inHand[0] as Block;
  blocks.hold(first);
  Object.assign(stub(first), { isInUse: true, isRunning: true });
  for (const name of names.slice(1)) blocks.findNow(name);
  t.equal(blocks.has('n0'), true);
  t.equal(blocks.running, 1);
});

t.test('a block that has moved away is forgotten, and its folder is swept anew when one of its name comes', async (t) => {
  const { blocks, made, swept } = open();
  const a = blocks.findNow('a');
  blocks.forget('a');
  t.not(blocks.findNow('a'), a);
  t.same(
    [made, swept],
    [
      ['a', 'a'],
      ['a', 'a'],
    ],
  );
});

t.test('a block moves when those who copy it are done, whatever became of the copies; all else goes on meanwhile', async (t) => {
  const { blocks } = open();
  const [first, second] = [gate(), gate()];
  const order: string[] = [];
  const failing = blocks.whileCopying('a', async () => {
    await first.opened;
    order.push('first');
    throw new Error('no');
  });
  const copying = blocks.whileCopying('a', async (block) => {
    await second.opened;
    order.push('second');
    return block.name;
  });
  t.equal((await blocks.find('a')).name, 'a', 'nobody waits for a copy');
  const moving = blocks.whileMoving('a', async () => order.push('moved'));
  const late = blocks.whileCopying('a', async () => order.push('late'));
  first.open();
  await t.rejects(failing, { message: 'no' });
  second.open();
  t.equal(await copying, 'a');
  await Promise.all([moving, late]);
  t.same(order, ['first', 'second', 'moved', 'late']);
  await t.rejects(
    blocks.whileCopying('nobody', async () => t.fail('there is none')),
    { code: 'BLOCK_NOT_FOUND' },
  );
});
