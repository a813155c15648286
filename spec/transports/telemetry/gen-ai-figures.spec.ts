import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { FAMILIES } from '../../../transports/metrics/families.ts';
import { Histogram, Shelves } from '../../../transports/metrics/series.ts';
import { operationOf } from '../../../transports/telemetry/call-spans.ts';
import { GenAiFigures } from '../../../transports/telemetry/gen-ai-figures.ts';
import type { Upstreams } from '../../../transports/telemetry/upstreams.ts';

const CALL = { kind: 'chat', call: 1, requestId: 'r', adapter: 'gpu', model: 'm', attempts: 1, durationMs: 1500 } as const;

function figuresOf() {
  const events = createBus();
  const upstreams = { of: () => ({ provider: 'p', address: undefined, port: undefined }) } as unknown as Upstreams;
  const figures = new GenAiFigures({ events }, upstreams, { Histogram, Shelves, operationEdges: FAMILIES.callSeconds.edges });
  const points = () => figures.all().map(({ points }) => points);
  return { events, points };
}

t.test('a failure is told apart by its code, and embeddings have no output', async (t) => {
  const { events, points } = figuresOf();
  events.emit('call.finished', { ...CALL, usage: { inputTokens: 5, outputTokens: 0, totalTokens: 5 }, kind: 'embeddings' });
  events.emit('call.finished', { ...CALL, kind: 'embeddings', code: 'UPSTREAM_FAILED' });
  const [seconds = [], tokens = []] = points();
  t.strictSame(
    seconds.map(([attributes, { sum }]) => [attributes['error.type'], sum]),
    [
      [undefined, 1.5],
      ['UPSTREAM_FAILED', 1.5],
    ],
  );
  t.strictSame(
    tokens.map(([attributes, { sum, counts }]) => [attributes['gen_ai.token.type'], sum, counts.reduce((all, count) => all + count, 0)]),
    [
      ['input', 5, 1],
      ['output', 0, 0],
    ],
  );
});

t.test('names that nothing answered to make no series, nor do very many', async (t) => {
  const { events, points } = figuresOf();
  for (let index = 0; index < 50; index += 1) events.emit('call.finished', { ...CALL, model: `made-up-${index}`, code: 'MODEL_NOT_FOUND' });
  t.strictSame(
    points()[0]?.map(([attributes]) => attributes['gen_ai.request.model']),
    ['other'],
  );
  for (let index = 0; index < 300; index += 1) events.emit('call.finished', { ...CALL, model: `m-${index}` });
  t.equal(new Set(points()[0]?.map(([attributes]) => attributes['gen_ai.request.model'])).size, 201);
});

t.test('the operation follows from what was called', async (t) => {
  t.equal(operationOf({ kind: 'chat' }), 'chat');
  t.equal(operationOf({ kind: 'embeddings' }), 'embeddings');
  t.equal(operationOf({ kind: 'forward', path: '/v1/embeddings' }), 'embeddings');
  t.equal(operationOf({ kind: 'forward', path: '/v1/completions' }), 'text_completion');
  t.equal(operationOf({ kind: 'forward', path: '/v1/messages' }), 'chat');
});
