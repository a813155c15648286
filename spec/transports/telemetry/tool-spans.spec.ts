import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as api from '@opentelemetry/api';
import * as sdk from '@opentelemetry/sdk-trace-base';
import t, { type Test } from 'tap';
import { createToolHost } from '../../../adapters/tools/index.ts';
import { createBus } from '../../../core/bus.ts';
import { SpanClock } from '../../../transports/telemetry/clock.ts';
import { ObjectBatch, type Origin } from '../../../transports/telemetry/span-batch.ts';
import { type Noted, SpanIds } from '../../../transports/telemetry/spans.ts';
import { ToolSpans } from '../../../transports/telemetry/tool-spans.ts';
import { RUNNABLE } from '../../support/blocks.ts';
import type { ReceivedSpan } from '../../support/otlp/collector.ts';
import { startTraced, type Traced } from '../../support/otlp/traced.ts';
import { testFolder } from '../../support/test-folder.ts';
import { answerOf } from '../../support/tools/answer-of.ts';
import { HOSTILE } from '../../support/tools/sessions-rig.ts';
import { pendingIn } from '../../support/tools/tool-core.ts';
import { toolModel, type WireCall } from '../../support/tools/tool-model.ts';

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

t.test('a call that names no tool on offer says nothing of what the model has made up', async (t) => {
  const { events, spans } = worldOf();
  events.emit('tool.finished', { ...CALL, tool: 'the words of/an answer', outcome: 'not-offered', isError: false, ms: null });
  t.equal(spans[0]?.name, 'execute_tool _OTHER');
  t.match(spans[0]?.attributes, { 'gen_ai.tool.name': '_OTHER', 'error.type': 'not-offered' });
});

const WORDS = 'the words of an argument';
const call = (tool: string, args: object = {}): WireCall => ({ name: `hostile__${tool}`, arguments: args });
/** Of which the first runs, one fails, a person allows one and denies the next, no other is offered, and two run side by side. */
const STEPS = [
  [call('echo', { text: WORDS })],
  [call('refuse')],
  [call('meta')],
  [call('big', { bytes: 5 })],
  [call('env')],
  [call('none'), call('echo', { text: 'two' })],
];
const RULES = {
  servers: ['hostile'],
  allow: ['hostile/echo', 'hostile/refuse', 'hostile/none'],
  ask: ['hostile/meta', 'hostile/big'],
  deny: ['hostile/env'],
  taint: 'ignore',
};

/** A server whose block ada may call the tools of a process, which was approved. */
async function startWithTools(t: Test): Promise<Traced> {
  const host = createToolHost({ workspace: realpathSync(testFolder(t)), env: process.env });
  const { servers } = host;
  if (servers === undefined) throw new Error('the host manages no servers');
  const server = await startTraced(t, { tools: host, env: {}, answer: toolModel(({ results }) => STEPS[results.length] ?? 'Done.') });
  t.teardown(() => host.close());
  const all = ['*'];
  const settings = { marks: { readOnly: all, idempotent: all, closedWorld: all } };
  await servers.put('hostile', { server: { command: process.execPath, args: [HOSTILE, '{}'] }, settings });
  const { definition } = await servers.get('hostile');
  const { tools } = await servers.test('hostile', { definition }, new AbortController().signal);
  await servers.approve('hostile', { definition, tools: Object.fromEntries(tools.map(({ name, hash }) => [name, hash])) }, 'cli');
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ ollama: { baseURL: server.upstream.url } }), { mode: 0o600 });
  await server.core.blocks.create({ name: 'ada', config: { ...RUNNABLE, tools: RULES } as never });
  await server.core.blocks.start('ada');
  return server;
}

t.test('a whole block with a real server of tools: every call and every wait lies in its message, and says how it has ended', async (t) => {
  const server = await startWithTools(t);
  const { blocks } = server.core;
  const sent = await server.call('POST', '/api/blocks/ada/chat', { body: { message: 'Go.' } });
  const id = String(sent.json['id']);
  const decided: string[] = [];
  for (const decision of ['approve', 'deny']) {
    const [waiting] = await pendingIn({ blocks });
    decided.push(waiting?.id ?? '');
    await server.call('POST', `/api/approvals/${waiting?.id}`, { body: { decision, digest: waiting?.digest } });
  }
  await answerOf(blocks, 'ada', id);
  await server.flush();
  const { spans } = server.collector;
  const message = server.collector.span('invoke_agent ada');
  const request = server.collector.span('POST /api/blocks/:name/chat');
  t.match(message, { parentSpanId: '', hasFailed: false, links: [{ traceId: request?.traceId, spanId: request?.spanId }] });
  const inMessage = (name: string): ReceivedSpan[] => spans.filter((span) => span.name.startsWith(name) && span.parentSpanId === message?.spanId);
  const placeOf = ({ attributes }: ReceivedSpan): string => String(attributes['gen_ai.tool.call.id']);
  const calls = inMessage('execute_tool ').sort((a, b) => placeOf(a).localeCompare(placeOf(b))); // the last two run side by side
  t.strictSame(
    calls.map((span) => [placeOf(span), span.name, span.hasFailed, span.attributes['error.type']]),
    [
      ['1.1', 'execute_tool hostile/echo', false, undefined],
      ['2.1', 'execute_tool hostile/refuse', true, 'tool-error'],
      ['3.1', 'execute_tool hostile/meta', false, undefined],
      ['4.1', 'execute_tool hostile/big', true, 'denied'],
      ['5.1', 'execute_tool _OTHER', true, 'not-offered'],
      ['6.1', 'execute_tool hostile/none', true, 'tool-error'],
      ['6.2', 'execute_tool hostile/echo', false, undefined],
    ],
  );
  t.match(calls[0]?.attributes, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'hostile/echo',
    'gen_ai.tool.type': 'extension',
    'blockhouse.block': 'ada',
    'blockhouse.message_id': id,
    'blockhouse.outcome': 'done',
  });
  const waits = inMessage('wait_for_approval ');
  t.strictSame(
    waits.map(({ name, hasFailed, attributes }) => [name, attributes['blockhouse.approval_id'], attributes['blockhouse.outcome'], hasFailed]),
    [
      ['wait_for_approval hostile/meta', decided[0], 'approved', false],
      ['wait_for_approval hostile/big', decided[1], 'denied', false],
    ],
  );
  t.equal(spans.filter(({ name }) => name.startsWith('execute_tool') || name.startsWith('wait_for')).length, calls.length + waits.length);
  for (const span of [...calls, ...waits]) {
    t.match(span, { kind: 'INTERNAL', traceId: message?.traceId });
    t.ok(span.from >= (message?.from ?? 0) && span.to <= (message?.to ?? 0) && span.from <= span.to, `${span.name} lies within its message`);
  }
  const allowed = calls.find(({ name }) => name.endsWith('/meta'));
  t.ok((allowed?.from ?? 0) >= (waits[0]?.to ?? Number.POSITIVE_INFINITY), 'what a person allows begins after that');
  t.equal(inMessage('chat m').length, STEPS.length + 1);
  t.notMatch(JSON.stringify(server.collector.traces), WORDS);
});
