import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { endWhenCallerLeaves, never, offAbort, onAbort, sleep, timeLimit } from '../../../core/base/abort.ts';

const LONG_MS = 3_600_000;
const NOTHING = () => undefined;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

t.test('a time limit ends what is bound to it and to others, also after garbage was collected', async (t) => {
  const leaving = new AbortController();
  const ended = new Promise<string>((resolve) => AbortSignal.any([leaving.signal, timeLimit(50)]).addEventListener('abort', () => resolve('ended')));
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  let hang: NodeJS.Timeout | undefined; // a time limit keeps no process at work
  const hangs = new Promise<string>((resolve) => {
    hang = setTimeout(() => resolve('still at work'), 10_000);
  });
  t.equal(await Promise.race([ended, hangs]), 'ended');
  clearTimeout(hang);
  t.equal(leaving.signal.aborted, false);
});

t.test('a wait ends by its time, by the caller who leaves, or by the gateway that closes', async (t) => {
  await t.resolves(sleep(1, never(), never()));
  const [leaving, closing] = [new AbortController(), new AbortController()];
  const waits = [sleep(LONG_MS, leaving.signal, never()), sleep(LONG_MS, never(), closing.signal)];
  leaving.abort();
  closing.abort();
  await t.rejects(waits[0] as Promise<void>, { code: 'CANCELLED' });
  await t.resolves(waits[1] as Promise<void>);
  await t.rejects(sleep(LONG_MS, AbortSignal.abort(), never()), { code: 'CANCELLED' });
  await t.resolves(sleep(LONG_MS, never(), AbortSignal.abort()));
});

t.test('work that does not notice that its caller left is given up, however far it came', async (t) => {
  const leaving = new AbortController();
  const ended = endWhenCallerLeaves(() => new Promise<never>(() => undefined), leaving.signal, NOTHING);
  leaving.abort();
  await t.rejects(ended, { code: 'CANCELLED', status: 499, mayHaveRun: true });
});

t.test('work that notices says itself how it ended', async (t) => {
  const leaving = new AbortController();
  const failure = new Error('mine');
  const ended = endWhenCallerLeaves(
    () => new Promise((_resolve, reject) => leaving.signal.addEventListener('abort', () => reject(failure))),
    leaving.signal,
    NOTHING,
  );
  leaving.abort();
  await t.rejects(ended, failure);
});

t.test('the rest of work that goes on without its caller ends by itself, by its own signal, or at once', async (t) => {
  const [result, until] = [{}, new AbortController()];
  for (const [end, signal] of [
    ['itself', until.signal],
    ['signal', until.signal],
    ['at once', undefined],
  ] as const) {
    const leaving = new AbortController();
    let [rest, ends, finish]: [Promise<object>, number, (result: object) => void] = [Promise.resolve({}), 0, NOTHING];
    const work = () => new Promise<object>((resolve) => (finish = resolve));
    const goOn = (left: Promise<object>) => {
      rest = left;
      return signal;
    };
    const ended = endWhenCallerLeaves(work, leaving.signal, () => (ends += 1), goOn);
    leaving.abort();
    await t.rejects(ended, { code: 'CANCELLED' }, 'its caller gets the answer at once');
    if (end !== 'at once') t.equal(ends, 0, 'the work goes on');
    if (end === 'itself') finish(result);
    else until.abort();
    if (end === 'itself') t.equal(await rest, result);
    else await t.rejects(rest, { code: 'CANCELLED', mayHaveRun: true });
    t.equal(ends, 1);
  }
});

t.test('a signal that fires calls everybody who still listens, in their order, and once', async (t) => {
  const leaving = new AbortController();
  const called: string[] = [];
  const note = (name: string) => () => void called.push(name);
  const [first, second] = ['first', 'second', 'third'].map((name) => onAbort(leaving.signal, note(name)));
  if (first === undefined || second === undefined) return t.fail('both listen');
  offAbort(second);
  leaving.abort();
  leaving.abort();
  t.strictSame(called, ['first', 'third']);
});
