import t from 'tap';
import { createActor, fromPromise } from 'xstate';
import type { BlockActor } from '../../../core/block/actor/ask.ts';
import { createBlockMachine } from '../../../core/block/actor/machine.ts';
import type { Block } from '../../../core/block/block.ts';
import { OpenBlocks } from '../../../core/block/open-blocks.ts';
import type { BlockRef, Unconfirmed } from '../../../core/store/port.ts';
import type { BlockList } from '../../../core/store/store.ts';
import { gate } from '../../support/stepped-adapter.ts';

/** Stands for a block: what is looked at here. */
interface Stub {
  readonly ref: BlockRef;
  readonly name: string;
  readonly actor: unknown;
  isInUse: boolean;
  isQuiet: boolean;
  isRunning: boolean;
  isMoving: boolean;
  moved(): Promise<void>;
  end(): Promise<void>;
  close(): Promise<void>;
}

interface Opened {
  readonly blocks: OpenBlocks;
  readonly there: Set<string>;
  readonly made: string[];
}

function open(names: readonly string[] = ['a', 'b']): Opened {
  const there = new Set(names);
  const made: string[] = [];
  const make = (ref: BlockRef, actor?: unknown): Block => {
    const { name } = ref;
    made.push(name);
    const nothing = async (): Promise<void> => undefined;
    const stub: Stub = { ref, name, actor, isInUse: false, isQuiet: true, isRunning: false, isMoving: false, moved: nothing, end: nothing, close: nothing };
    return stub as unknown as Block;
  };
  const index = { find: (name: string) => (there.has(name) ? { name, block: 0 } : undefined), names: () => [...there] } as unknown as BlockList;
  return { blocks: new OpenBlocks({ index, make }), there, made };
}

const stub = (block: Block | Promise<Block>): Stub => block as unknown as Stub;
const many = (count: number, prefix = 'n') => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

t.test('a block has one object, which is made at its first use', async (t) => {
  const { blocks, made } = open();
  t.equal(blocks.has('a'), false);
  const a = await blocks.find('a');
  t.equal(await blocks.find('a'), a);
  t.equal(blocks.findNow('a'), a);
  t.same(made, ['a']);
  t.same(blocks.all(), [a]);
});

t.test('a block that does not exist has no object', async (t) => {
  const { blocks, there, made } = open();
  await t.rejects(blocks.find('nobody'), { code: 'BLOCK_NOT_FOUND', status: 404 });
  t.throws(() => blocks.findNow('../a'), { code: 'BLOCK_NOT_FOUND' });
  t.same(made, []);
  await blocks.find('a');
  there.delete('a');
  await t.rejects(blocks.find('a'), { code: 'BLOCK_NOT_FOUND' });
  t.equal(blocks.has('a'), false);
});

t.test('a folder that was removed and comes back keeps the object that still runs', async (t) => {
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

t.test('while a block moves, find waits for the end of the move', async (t) => {
  const { blocks, there } = open();
  const moving = stub(blocks.findNow('a'));
  const moved = gate();
  Object.assign(moving, { isMoving: true, moved: () => moved.opened });
  const order: string[] = [];
  const found = blocks.find('a').catch((error: { code: string }) => order.push(error.code));
  const settled = blocks.settled('a').then(() => order.push('settled'));
  t.throws(() => blocks.findNow('a'), { code: 'BLOCK_NOT_FOUND' });
  t.equal((await blocks.find('b')).name, 'b', 'others do not wait');
  t.same(order, []);
  there.delete('a');
  blocks.forget('a');
  moving.isMoving = false;
  moved.open();
  await Promise.all([found, settled]);
  t.same([...order].sort(), ['BLOCK_NOT_FOUND', 'settled']);
});

/** The actor of an archived block, whose way out of the archive is `work`. */
function archived(work: () => Promise<Unconfirmed>): BlockActor {
  const machine = createBlockMachine(() => 0).provide({
    actors: { restore: fromPromise<Unconfirmed, { readonly archiveName: string; readonly name: string }>(work) },
  });
  return createActor(machine, { input: { name: 'old', archiveName: 'old_2026' } }).start();
}

t.test('find waits for a block that is being restored, which keeps its actor', async (t) => {
  const { blocks, there, made } = open([]);
  const restored = gate();
  const actor = archived(async () => {
    await restored.opened;
    there.add('c');
    return undefined;
  });
  const arrived = blocks.restore('c', actor);
  await Promise.resolve();
  t.throws(() => blocks.findNow('c'), { code: 'BLOCK_NOT_FOUND' });
  const found = blocks.find('c');
  restored.open();
  await arrived;
  t.equal(stub(await found).actor, actor);
  t.same(made, ['c'], 'one object, whoever was first');
  t.equal(actor.getSnapshot().value.life, 'active');
});

t.test('after a failed restore nothing waits, and the name is free', async (t) => {
  const { blocks } = open([]);
  const restored = blocks.restore(
    'c',
    archived(() => Promise.reject(new Error('full'))),
  );
  const found = t.rejects(blocks.find('c'), { code: 'BLOCK_NOT_FOUND' });
  await t.rejects(restored, { message: 'full' });
  await found;
});

t.test('after the end no block can start', async (t) => {
  const { blocks, there } = open();
  const ended: string[] = [];
  const a = stub(blocks.findNow('a'));
  a.end = async () => void ended.push('a');
  await blocks.close(Promise.resolve());
  t.same(ended.slice(0, 1), ['a']);
  there.add('c');
  const actor = archived(async () => undefined);
  await blocks.restore('c', actor);
  t.equal(blocks.has('c'), true);
});

t.test('of the idle blocks the two hundred that were used last are kept', async (t) => {
  const names = many(300);
  const { blocks } = open(names);
  for (const name of names.slice(0, 200)) blocks.findNow(name);
  blocks.findNow('n0');
  for (const name of names.slice(200)) blocks.findNow(name);
  t.equal(names.filter((name) => blocks.has(name)).length, 200);
  t.same([blocks.has('n0'), blocks.has('n1'), blocks.has('n299')], [true, false, true]);
});

t.test('blocks in use, or with unwritten changes, are kept', async (t) => {
  const names = many(250);
  const { blocks } = open(names);
  stub(blocks.findNow('n0')).isInUse = true;
  stub(blocks.findNow('n1')).isQuiet = false;
  for (const name of names) blocks.findNow(name);
  for (const name of names.slice(2)) blocks.findNow(name);
  t.same([blocks.has('n0'), blocks.has('n1')], [true, true]);
});

t.test('a dropped block is found again as long as other code refers to it', async (t) => {
  const names = many(1000);
  const { blocks, made } = open(names);
  const inHand = names.map((name) => blocks.findNow(name) as Block);
  t.equal(blocks.has('n0'), false, 'let go');
  t.ok(inHand.every((block) => blocks.findNow(block.name) === block));
  t.equal(made.length, 1000, 'no second object, and so no second writer');
  t.ok(inHand.every((block) => blocks.all().includes(block)));
});

t.test('a block that is held before it runs is counted and kept', async (t) => {
  const names = many(500);
  const { blocks } = open(names);
  const inHand = names.map((name) => blocks.findNow(name) as Block);
  const first = inHand[0] as Block;
  blocks.hold(first);
  Object.assign(stub(first), { isInUse: true, isRunning: true });
  for (const name of names.slice(1)) blocks.findNow(name);
  t.equal(blocks.has('n0'), true);
  t.equal(blocks.running, 1);
});

t.test('a block that has moved away is forgotten', async (t) => {
  const { blocks, made } = open();
  const a = blocks.findNow('a');
  blocks.forget('a');
  t.not(blocks.findNow('a'), a);
  t.same(made, ['a', 'a']);
});
