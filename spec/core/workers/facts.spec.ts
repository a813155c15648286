import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { WorkerFacts } from '../../../core/workers/facts.ts';
import type { Link } from '../../../core/workers/link.ts';
import type { PrimarySays, WorkerFact, WorkerSays } from '../../../core/workers/says.ts';

t.test('a worker has no facts made of each attempt until somebody follows the events, and then tells each once', async (t) => {
  const bus = createBus();
  const told: WorkerFact[] = [];
  const link = { tell: (_name: string, facts: readonly WorkerFact[]) => void told.push(...facts) } as unknown as Link<WorkerSays, PrimarySays>;
  const facts = new WorkerFacts(link, bus, { tellsEnds: false });
  const often = ['attempt.started', 'attempt.ended', 'store.answered', 'call.started'] as const;
  t.same(
    often.filter((name) => bus.hears(name)),
    [],
  );
  facts.tellAll();
  facts.tellAll();
  t.same(
    often.filter((name) => bus.hears(name)),
    ['attempt.started', 'attempt.ended', 'call.started'],
  );
  const delayed = { delayMs: 300, pid: 1 };
  bus.emit('attempt.ended', {} as never);
  bus.emit('loop.delayed', delayed);
  facts.flush();
  t.same(told, [
    { name: 'attempt.ended', data: {} },
    { name: 'loop.delayed', data: delayed },
  ]);
});
