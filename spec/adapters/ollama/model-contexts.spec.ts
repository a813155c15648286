import t from 'tap';
import { ModelContexts } from '../../../adapters/ollama/model-contexts.ts';
import { BlockhouseError, type ErrorExtras } from '../../../core/index.ts';

const shown = (tokens: unknown) => ({ model_info: { 'general.architecture': 'llama', 'llama.context_length': tokens, 'clip.context_length': 77 } });

t.test('asked-once: the daemon is asked once for each model, and what it said is there at once', async (t) => {
  const models = new ModelContexts();
  const asked: string[] = [];
  const of = (key: string) =>
    models.of(key, async () => {
      asked.push(key);
      return shown(8192);
    });
  t.same(await Promise.all([of('a'), of('a'), of('b')]), [8192, 8192, 8192]);
  t.equal(of('a'), 8192, 'without a promise');
  t.same(asked, ['a', 'b']);
});

t.test('never-in-the-way: an answer that says nothing leaves the limit to the settings, and the daemon is asked again later', async (t) => {
  const answers: (() => Promise<unknown>)[] = [
    async () => ({}),
    async () => null,
    async () => shown('eight'),
    async () => shown(0),
    async () => ({ model_info: { 'llama.context_length': 8192 } }),
    async () => Promise.reject(new BlockhouseError('UPSTREAM_REJECTED', '404 page not found', { upstreamStatus: 404 })),
    async () => Promise.reject(new BlockhouseError('UPSTREAM_TIMEOUT', 'silence', { mayHaveRun: true })),
    async () => Promise.reject(new BlockhouseError('UPSTREAM_MALFORMED', 'not JSON')),
  ];
  for (const [index, answer] of answers.entries()) {
    let now = 0;
    let asked = 0;
    const models = new ModelContexts(() => now);
    const of = () =>
      models.of('a', () => {
        asked += 1;
        return answer();
      });
    t.equal(await of(), undefined, String(index));
    now += 29_000;
    t.equal(of(), undefined);
    t.equal(asked, 1);
    now += 2000;
    await of();
    t.equal(asked, 2);
  }
});

t.test('without a connection the question fails, and the next call asks again', async (t) => {
  const models = new ModelContexts();
  const fails = (extras: ErrorExtras) => () => Promise.reject(new BlockhouseError('UPSTREAM_UNREACHABLE', 'ECONNREFUSED', extras));
  await t.rejects(Promise.resolve(models.of('a', fails({}))), { code: 'UPSTREAM_UNREACHABLE' });
  t.equal(await models.of('a', async () => shown(4096)), 4096);
  t.equal(await models.of('b', fails({ mayHaveRun: true })), undefined, 'a daemon that breaks off at the question is there');
});

t.test('never-in-the-way: while a daemon leaves many questions open, it gets no further one', async (t) => {
  const models = new ModelContexts();
  let asked = 0;
  const answer: ((value: unknown) => void)[] = [];
  const show = () => {
    asked += 1;
    return new Promise<unknown>((resolve) => answer.push(resolve));
  };
  const open = Array.from({ length: 32 }, (_, index) => models.of(`m${index}`, show));
  t.equal(models.of('one more', show), undefined);
  t.type(models.of('m0', show), Promise, 'a question that is open already is waited for');
  t.equal(asked, 32);
  for (const resolve of answer) resolve(shown(8192));
  t.same(new Set(await Promise.all(open)), new Set([8192]));
  t.equal(await models.of('one more', async () => shown(4096)), 4096);
});
