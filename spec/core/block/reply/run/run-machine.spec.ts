// The order of a run, as a table: what follows which step.
import t from 'tap';
import { createActor, type SnapshotFrom } from 'xstate';
import { type After, createRunMachine, type RunSteps } from '../../../../../core/block/reply/run/run-machine.ts';

const ENDED: After = { kind: 'over', called: { kind: 'waiting', waitingFor: ['a1'], outcome: { kind: 'over', failed: false } } };

/** A run whose steps end like this, one after the other; resolves with the steps that were made. */
async function made(script: readonly After[], abortAt?: number) {
  const steps: string[] = [];
  const rest = [...script];
  const next = (step: string) => async (): Promise<After> => {
    steps.push(step);
    return rest.shift() ?? ENDED;
  };
  const work: RunSteps = {
    open: next('open'),
    callModel: (concludes, signal) => next(`${concludes ? 'conclude' : 'model'}${signal.aborted ? ' aborted' : ''}`)(),
    checkCalls: next('check'),
    callTools: next('call'),
  };
  const actor = createActor(
    createRunMachine(() => work),
    { input: { messageId: 'm1' } },
  );
  const ended = new Promise<SnapshotFrom<ReturnType<typeof createRunMachine>>>((resolve, reject) => {
    actor.subscribe({ complete: () => resolve(actor.getSnapshot()), error: reject });
  });
  actor.start();
  if (abortAt === 0) actor.send({ type: 'abort', cause: 'stop' });
  return { steps, context: (await ended).context };
}

const model = (step: number): After => ({ kind: 'model', step });

t.test('the model is called, its calls are checked and made, until it answers', async (t) => {
  const { steps, context } = await made([model(1), { kind: 'check', step: 1 }, { kind: 'call', step: 1 }, model(2), ENDED]);
  t.strictSame(steps, ['open', 'model', 'check', 'call', 'model']);
  t.match(context, { messageId: 'm1', step: 2, called: { kind: 'waiting' } });
  t.strictSame(JSON.parse(JSON.stringify(context)), context, 'the context is plain JSON');
});

t.test('calls that are all refused lead back to the model, and a limit to the conclusion', async (t) => {
  t.strictSame((await made([model(1), { kind: 'check', step: 1 }, model(2), { kind: 'conclude', step: 3 }, ENDED])).steps, [
    'open',
    'model',
    'check',
    'model',
    'conclude',
  ]);
});

t.test('a run goes on where its journal says', async (t) => {
  for (const kind of ['check', 'call'] as const) t.strictSame((await made([{ kind, step: 3 }, ENDED])).steps, ['open', kind]);
  t.strictSame((await made([ENDED])).steps, ['open']);
  t.strictSame((await made([model(1), model(2), { kind: 'check', step: 2 }, { kind: 'check', step: 2 }, ENDED])).steps, [
    'open',
    'model',
    'model',
    'check',
    'check',
  ]);
});

t.test('a step that throws is the error of the run', async (t) => {
  const work = { open: () => Promise.reject(new Error('disk')) } as unknown as RunSteps;
  const actor = createActor(
    createRunMachine(() => work),
    { input: { messageId: 'm1' } },
  );
  const failed = new Promise((resolve) => void actor.subscribe({ error: resolve }));
  actor.start();
  t.match(await failed, { message: 'disk' });
});

t.test('an abort reaches the step under way', async (t) => {
  let reason: unknown;
  const work = {
    open: (signal: AbortSignal) =>
      new Promise<After>((resolve) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          resolve(ENDED);
        });
      }),
  } as unknown as RunSteps;
  const actor = createActor(
    createRunMachine(() => work),
    { input: { messageId: 'm1' } },
  );
  const over = new Promise<void>((resolve) => void actor.subscribe({ complete: resolve }));
  actor.start();
  actor.send({ type: 'abort', cause: 'cancel' });
  await over;
  t.equal(reason, 'cancel');
});
