import t from 'tap';
import { type Names, namesOf } from '../../../cli/complete/completion-names.ts';

const names = (kind: string, change: Partial<Names> = {}): Names => ({
  kind,
  command: 'send',
  given: [],
  values: new Map(),
  env: {},
  ...change,
});

t.test('a workspace is found as the commands find it: by the option, then the variable', async (t) => {
  const first = t.testdir({ blocks: { ada: {}, 'a-file': 'x' }, other: { blocks: { bob: {} } } });
  const env = { BLOCKHOUSE_WORKSPACE: first };
  t.same(await namesOf(names('block', { env })), [{ word: 'ada' }], 'a file is no block');
  t.same(await namesOf(names('block', { env, values: new Map([['--workspace', `${first}/other`]]) })), [{ word: 'bob' }]);
  t.same(
    await namesOf(names('block', { values: new Map([['--workspace', `"${first}/other"`]]) })),
    [{ word: 'bob' }],
    'the quotes of the shell are no part of it',
  );
});

t.test('the levels of effort and the paths of files are offered', async (t) => {
  t.same(await namesOf(names('effort', { given: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] })), [{ word: 'max' }]);
  t.equal((await namesOf(names('file'))).length, 1);
});

t.test('what has no names is not completed', async (t) => {
  t.same(await namesOf(names('message')), []);
  t.same(await namesOf(names('toString')), []);
});
