import * as api from '@opentelemetry/api';
import * as sdk from '@opentelemetry/sdk-trace-base';
import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { SpanClock } from '../../../transports/telemetry/clock.ts';
import { ObjectBatch, type Origin } from '../../../transports/telemetry/span-batch.ts';
import { type Noted, SpanIds } from '../../../transports/telemetry/spans.ts';
import { ToolSpans } from '../../../transports/telemetry/tool-spans.ts';

const MESSAGE = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', flags: 1 };

function worldOf() {
  const events = createBus();
  const batch = new ObjectBatch({ resource: {}, scope: { name: 'x' } } as Origin);
  const tracing = { clock: new SpanClock(), ids: new SpanIds(api, sdk, {}), note: (noted: Noted) => noted.write(batch) };
  const known: Record<string, typeof MESSAGE> = { m1: MESSAGE, unrecorded: { ...MESSAGE, flags: 0 } };
  let lost = 0;
  new ToolSpans(
    { events },
    tracing,
    (message) => known[message],
    () => {
      lost += 1;
    },
  );
  return { events, spans: batch.spans, lost: () => lost };
}

const OF = { block: 'ada', id: 'm1' } as const;
const CALL = { ...OF, call: '1.1', tool: 'bank/pay' } as const;
const ASKED = { ...OF, approval: 'a1', tool: 'bank/pay', because: 'rule', expiresAt: '' } as const;

t.test('a call of a tool is a span under its message, in the words of the conventions', async (t) => {
  const { events, spans } = worldOf();
  events.emit('tool.called', CALL);
  t.strictSame(spans, [], 'it has not ended');
  events.emit('tool.finished', { ...CALL, outcome: 'done', isError: false, ms: 3 });
  t.equal(spans.length, 1);
  t.match(spans[0], { name: 'execute_tool bank/pay', kind: api.SpanKind.INTERNAL, status: { code: api.SpanStatusCode.UNSET } });
  t.match(spans[0]?.parentSpanContext, { traceId: MESSAGE.traceId, spanId: MESSAGE.spanId });
  t.equal(spans[0]?.spanContext().traceId, MESSAGE.traceId);
  t.strictSame(spans[0]?.attributes, {
    'gen_ai.tool.name': 'bank/pay',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.call.id': '1.1',
    'gen_ai.tool.type': 'extension',
    'blockhouse.block': 'ada',
    'blockhouse.message_id': 'm1',
    'blockhouse.outcome': 'done',
  });
});

t.test('one that failed says why, and one that was refused has a span without having been sent', async (t) => {
  const { events, spans } = worldOf();
  events.emit('tool.called', CALL);
  events.emit('tool.finished', { ...CALL, outcome: 'done', isError: true, ms: 3 });
  events.emit('tool.finished', { ...CALL, call: '1.2', outcome: 'denied', isError: false, ms: null });
  events.emit('tool.called', { ...CALL, call: '1.3' });
  events.emit('tool.finished', { ...CALL, call: '1.3', outcome: 'unknown', isError: false, ms: null });
  t.strictSame(
    spans.map(({ attributes }) => attributes['error.type']),
    ['tool-error', 'denied', 'unknown'],
  );
  for (const { status } of spans) t.equal(status.code, api.SpanStatusCode.ERROR);
});

t.test('a wait for a decision is a span', async (t) => {
  const { events, spans } = worldOf();
  events.emit('approval.requested', ASKED);
  events.emit('approval.decided', { ...OF, approval: 'a1', tool: 'bank/pay', state: 'denied' });
  events.emit('approval.decided', { ...OF, approval: 'other', tool: 'bank/pay', state: 'denied' });
  t.equal(spans.length, 1);
  t.match(spans[0], {
    name: 'wait_for_approval bank/pay',
    attributes: { 'gen_ai.tool.name': 'bank/pay', 'blockhouse.approval_id': 'a1', 'blockhouse.outcome': 'denied' },
    status: { code: api.SpanStatusCode.UNSET },
  });
});

t.test('what is open ends with its message, and with its block', async (t) => {
  const { events, spans } = worldOf();
  events.emit('tool.called', CALL);
  events.emit('approval.requested', ASKED);
  events.emit('message.finished', { ...OF, id: 'm2', status: 'done' });
  t.equal(spans.length, 0);
  events.emit('message.finished', { ...OF, status: 'cancelled' });
  t.equal(spans.length, 2);
  t.notOk(Object.hasOwn(spans[0]?.attributes ?? {}, 'blockhouse.outcome'));
  events.emit('tool.called', CALL);
  events.emit('block.archived', { block: 'bob', archiveName: 'bob' });
  t.equal(spans.length, 2);
  events.emit('block.archived', { block: 'ada', archiveName: 'ada' });
  t.equal(spans.length, 3);
});

t.test('there is none for a message that is not recorded or not known, and many stay bounded', async (t) => {
  const { events, spans, lost } = worldOf();
  for (const id of ['unrecorded', 'nobody']) {
    events.emit('tool.called', { ...CALL, id });
    events.emit('tool.finished', { ...CALL, id, outcome: 'done', isError: false, ms: 1 });
  }
  t.strictSame(spans, []);
  for (let call = 0; call < 10_002; call += 1) events.emit('tool.called', { ...CALL, call: `1.${call}` });
  t.equal(lost(), 2);
  events.emit('message.finished', { ...OF, status: 'done' });
  t.equal(spans.length, 10_000);
});
