import t from 'tap';
import { ownWorker } from '../../../cli/serve/own-worker.ts';
import { Words, type WorkerWord } from '../../../cli/serve/worker-words.ts';

// What a worker does is shown in workers.spec.ts, with processes.
t.test('a process that no pool has started is no worker', async (t) => {
  t.equal(ownWorker(), undefined);
});

t.test('words are heard at once, and messages about the work wait for their listener, in order', async (t) => {
  const sent: object[] = [];
  const heard: WorkerWord[] = [];
  const work: unknown[] = [];
  let arrive: (message: unknown) => void = () => undefined;
  const { line } = new Words<WorkerWord>(
    (listener) => {
      arrive = listener;
    },
    (message) => sent.push(message),
    (word) => heard.push(word),
  );
  for (const message of [[1], { word: 'here' }, [2]]) arrive(message);
  line.onMessage((message) => work.push(message));
  arrive([3]);
  line.send([4]);
  t.same({ sent, heard, work }, { sent: [[4]], heard: [{ word: 'here' }], work: [[1], [2], [3]] });
});
