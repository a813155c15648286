import t from 'tap';
import { type ChatRequest, createCore, type StreamSink } from '../../../../core/index.ts';
import { HELLO, type Step, steppedAdapter } from '../../../support/stepped-adapter.ts';

const REQUEST: ChatRequest = { adapter: 'stepped', model: 'm', messages: [{ role: 'user', content: 'hi' }] };

function sinkInto(calls: string[]): StreamSink {
  return {
    opened: false,
    opensInMs: Number.POSITIVE_INFINITY,
    start: () => calls.push('start'),
    content: (fragments) => calls.push(...fragments) > 0,
    onceWritable: (resume) => resume(),
  };
}

t.test('start comes once: before the first text, or right before an end without any', async (t) => {
  const silent: Step = HELLO.filter((event) => event.type !== 'text');
  for (const [step, expected] of [
    [HELLO, ['start', 'Hel', 'lo']],
    [silent, ['start']],
  ] as const) {
    const core = createCore({ adapters: [steppedAdapter([step])], env: { STEPPED_API_KEY: 'k' } });
    const calls: string[] = [];
    await core.pipe(REQUEST, sinkInto(calls));
    t.same(calls, expected);
  }
});

t.test('an adapter learns who asks, by a name that no other caller has', async (t) => {
  const adapter = steppedAdapter([HELLO]);
  const clients: unknown[] = [];
  const chat: typeof adapter.chat = (call) => {
    clients.push(call.client);
    return adapter.chat(call);
  };
  const core = createCore({ adapters: [{ ...adapter, chat }], env: { STEPPED_API_KEY: 'k' } });
  for (const options of [{}, { caller: 'ada' }]) await core.chat(REQUEST, options);
  t.same(clients, ['token', 'block ada']);
});
