// Lists that servers announce while they work.
import t from 'tap';
import { NewestLists } from '../../../adapters/tools/newest-lists.ts';
import type { ListedTool } from '../../../adapters/tools/server.ts';
import { until } from '../../support/until.ts';

const listOf = (name: string): readonly ListedTool[] => [{ name, inputSchema: {} }];

t.test('of lists that come while one is taken, only the newest of each server is, one after the other', async (t) => {
  const taken: string[] = [];
  const ends: (() => void)[] = [];
  let most = 0;
  const lists = new NewestLists(async (server, tools) => {
    taken.push(`${server} ${tools[0]?.name}`);
    most = Math.max(most, taken.length - ends.length);
    await new Promise<void>((resolve) => ends.push(resolve));
  });
  lists.add('a', listOf('0'));
  for (let list = 1; list <= 100; list += 1) lists.add('a', listOf(String(list)));
  lists.add('b', listOf('0'));
  t.strictSame(taken, ['a 0']);
  ends[0]?.();
  await until('the next is taken', () => taken.length === 2);
  lists.add('a', listOf('101'));
  ends[1]?.();
  await until('the next is taken', () => taken.length === 3);
  ends[2]?.();
  await until('the next is taken', () => taken.length === 4);
  t.strictSame(taken, ['a 0', 'a 100', 'b 0', 'a 101']);
  t.equal(most, 1);
  ends[3]?.();
  await Promise.resolve();
});
