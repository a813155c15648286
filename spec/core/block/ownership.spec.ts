import t, { type Test } from 'tap';
import type { Block } from '../../../core/block/block.ts';
import { Ownership, type OwnershipOptions } from '../../../core/block/ownership.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import type { Claim, Membership, Rest, Wish } from '../../../core/store/port.ts';
import type { Hint } from '../../../core/store/store.ts';
import { until } from '../../support/until.ts';

const claim = (name: string, fence = 1): Claim => ({ name, block: name.charCodeAt(0), owner: 'me', fence });

interface World {
  readonly owners: Ownership;
  /** What happened, in order. */
  readonly done: string[];
  /** For how many blocks the store was asked, at each look. */
  readonly rooms: number[];
  /** What the store answers next; each once. */
  readonly next: { claim: Claim[]; mine: Claim[]; wishes: Wish[]; take: (Claim | { heldBy: string })[]; joinsFail: number };
  block(name: string): Block;
  hint(hint: Hint): void;
  lose(): void;
}

/** A store of many servers whose answers are the test's. */
function shared(t: Test, isShared = true, owned = 0): World {
  const done: string[] = [];
  const rooms: number[] = [];
  const next: World['next'] = { claim: [], mine: [], wishes: [], take: [], joinsFail: 0 };
  let lost = new AbortController();
  let hear: (hint: Hint) => void = () => undefined;
  const member = (): Membership => ({
    node: 'me',
    isShared,
    isDraining: false,
    lost: lost.signal,
    sureUntil: Number.POSITIVE_INFINITY,
    look: async (room) => {
      rooms.push(room);
      return { wishes: next.wishes.splice(0), mine: next.mine.splice(0), claimed: next.claim.splice(0) };
    },
    take: async ({ name }) => next.take.shift() ?? claim(name),
    askFor: async ({ name }) => void done.push(`ask ${name}`),
    release: async ({ name }, { state }: Rest) => {
      done.push(`release ${name} ${state}`);
      return true;
    },
  });
  let current = member();
  const blocks = new Map<string, Block>();
  const block = (name: string): Block => {
    let claimed: Claim | undefined;
    const tenure = {
      get claim() {
        return claimed;
      },
      begin: (got: Claim) => {
        claimed = got;
        done.push(`adopt ${name} ${got.fence}`);
      },
      take: async () => {
        const got = await current.take(claim(name));
        if ('heldBy' in got) return false;
        tenure.begin(got);
        return true;
      },
      see: () => undefined,
    };
    const one = {
      name,
      ref: claim(name),
      tenure,
      drop: () => {
        if (claimed !== undefined) done.push(`drop ${name}`);
        claimed = undefined;
      },
      stop: async (cause: string) => void done.push(`stop ${name}: ${cause}`),
      cancelReply: async (id: string) => done.push(`cancel ${id}`) > 0,
      send: ({ type }: { type: string }) => void done.push(`${type} ${name}`),
    };
    const made = blocks.get(name) ?? (one as unknown as Block);
    blocks.set(name, made);
    return made;
  };
  const world = {
    store: {
      signals: {
        on: (listener: typeof hear) => {
          hear = listener;
          return () => undefined;
        },
      },
    },
    member: () => current,
    rejoin: async () => {
      next.joinsFail -= 1;
      if (next.joinsFail >= 0) throw new BlockhouseError('STORE_UNREACHABLE', 'still away');
      lost = new AbortController();
      current = member();
      done.push('join');
    },
    monotonic: () => performance.now(),
  };
  const owners = new Ownership({
    world: world as unknown as OwnershipOptions['world'],
    blocks: {
      find: async (name: string) => (name === 'gone' ? Promise.reject(new Error('gone')) : block(name)),
      all: () => [...blocks.values()],
      owned,
    } as unknown as OwnershipOptions['blocks'],
    run: async ({ name }, cause) => void done.push(`run ${name}: ${cause}`),
    onFault: (what, error, name = '') => void done.push(`${what} ${name}: ${(error as Error).message}`),
  });
  t.teardown(() => owners.close());
  return { owners, done, rooms, next, block, hint: (hint) => hear(hint), lose: () => lost.abort() };
}

t.test('a server alone starts its blocks once, and a block that is gone does not hold up the next', async (t) => {
  const { owners, done, next } = shared(t, false);
  next.claim = ['gone', 'a', 'b'].map((name) => claim(name));
  owners.open();
  await until('they are started', () => done.length === 5);
  t.same(done, ['resume gone: gone', 'adopt a 1', 'run a: server start', 'adopt b 1', 'run b: server start']);
});

t.test('one of many servers takes blocks until it has 500, and one alone takes all', async (t) => {
  for (const [isShared, owned, room] of [
    [true, 0, 500],
    [true, 497, 3],
    [false, 497, Number.POSITIVE_INFINITY],
  ] as const) {
    const { owners, rooms } = shared(t, isShared, owned);
    owners.open();
    await until('it has looked', () => rooms.length > 0);
    t.equal(rooms[0], room, `${owned} of its own`);
  }
});

t.test('nothing is started once it is over', async (t) => {
  const { owners, done, next } = shared(t, false);
  next.claim = ['a', 'b'].map((name) => claim(name));
  owners.open();
  await until('one is started', () => done.length === 2);
  await owners.close();
  t.equal(done.length, 2);
});

t.test('what has something to do is taken at a hint, and a claim whose answer was lost is found among our own', async (t) => {
  const { owners, done, next, hint } = shared(t);
  owners.open();
  next.claim = [claim('a')];
  next.mine = [claim('b', 7)];
  hint({ block: 1, what: 'work' });
  await until('both are begun', () => done.length === 4);
  t.same(done, ['adopt b 7', 'run b: message', 'adopt a 1', 'run a: message']);
  next.mine = [claim('b', 7), claim('a', 2)];
  hint({ block: 1, what: 'work' });
  await until('ours are looked at', () => done.length === 8);
  t.same(done.slice(4), ['chat.changed b', 'drop a', 'adopt a 2', 'run a: message'], 'an older claim is worth nothing');
});

t.test('a hint of work for a block that is here is passed on, and the store is not asked', async (t) => {
  const { owners, done, next, hint, block } = shared(t);
  owners.open();
  await owners.tryTake(block('a'));
  await owners.tryTake(block('b'));
  next.mine = [claim('b')];
  hint({ block: 97, what: 'work' });
  t.same(done, ['adopt a 1', 'adopt b 1', 'chat.changed a'], 'at once');
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(next.mine.length, 1, 'there was no look');
  hint({ block: 1, what: 'work' });
  await until('a block that is not here is looked for', () => done.includes('chat.changed b'));
});

t.test('what others wish of our blocks is done', async (t) => {
  const { owners, done, next, hint } = shared(t);
  owners.open();
  next.wishes = [
    { name: 'a', block: 97, cancel: 'm1' },
    { name: 'b', block: 98, cancel: null },
  ];
  hint({ block: 97, what: 'wish' });
  await until('both are granted', () => done.length === 3);
  t.same(done, ['cancel m1', 'adopt b 1', 'stop b: another server'], 'also of a claim whose answer was lost');
});

t.test('a block of another server is asked for, and taken when it is given back', async (t) => {
  const { owners, done, next, block, hint } = shared(t);
  owners.open();
  next.take = [{ heldBy: 'other' }, { heldBy: 'other' }, claim('a', 5)];
  const taken = owners.take(block('a'));
  await until('it is asked for', () => done.length === 1);
  hint({ block: 97, what: 'released' });
  await taken;
  t.same(done, ['ask a', 'ask a', 'adopt a 5']);
});

t.test('a block is not taken again before the store has it back', async (t) => {
  const { owners, done, block } = shared(t);
  owners.open();
  owners.giveBack(claim('a'), { state: 'idle', dueAt: null });
  t.equal(await owners.tryTake(block('a')), true);
  t.same(done, ['release a idle', 'adopt a 1']);
});

t.test('what is lost is left at once, and the server joins again as soon as it can', async (t) => {
  const { owners, done, next, lose, hint } = shared(t);
  owners.open();
  next.claim = [claim('a')];
  hint({ block: 97, what: 'work' });
  await until('it is ours', () => done.length === 2);
  next.joinsFail = 2;
  lose();
  await until('it has joined', () => done.includes('join'));
  t.same(done.slice(2), ['drop a', 'store : still away', 'join']);
});
