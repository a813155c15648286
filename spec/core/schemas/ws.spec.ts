import t from 'tap';
import { compile } from '../../../core/schemas/validate.ts';
import {
  GoneFrame,
  PingFrame,
  PongFrame,
  RefreshFrame,
  StreamContentFrame,
  StreamDoneFrame,
  StreamErrorFrame,
  StreamFrame,
  StreamStartFrame,
  SubscribeFrame,
  UnsubscribeFrame,
  WsErrorFrame,
} from '../../../core/schemas/ws.ts';

const step = { type: 'stream', block: 'a', id: 'm', seq: 1 };
const start = { ...step, event: 'start', provider: 'p', model: 'm', attempt: 1 };
const content = { ...step, event: 'content', text: '' };
const done = { ...step, event: 'done', answerId: 'n', status: 'done', stopReason: 'end_turn' };
const fault = { ...step, event: 'error', code: 'UPSTREAM_FAILED', error: 'no', willRetry: false };

t.test('each frame takes its example and refuses one without a required field', async (t) => {
  const cases = [
    ['subscribe', SubscribeFrame, { type: 'subscribe', block: 'a' }],
    ['unsubscribe', UnsubscribeFrame, { type: 'unsubscribe', block: 'a' }],
    ['ping', PingFrame, { type: 'ping' }],
    ['refresh', RefreshFrame, { type: 'refresh', block: 'a' }],
    ['gone', GoneFrame, { type: 'gone', block: 'a' }],
    ['pong', PongFrame, { type: 'pong' }],
    ['error', WsErrorFrame, { type: 'error', code: 'INVALID_REQUEST', error: 'no' }],
    ['start', StreamStartFrame, start],
    ['content', StreamContentFrame, content],
    ['done', StreamDoneFrame, done],
    ['stream error', StreamErrorFrame, fault],
  ] as const;
  for (const [name, schema, example] of cases) {
    const check: (value: unknown) => void = compile(schema);
    t.doesNotThrow(() => check(example), name);
    for (const field of Object.keys(example))
      t.throws(() => check({ ...example, [field]: undefined }), { code: 'INVALID_REQUEST', details: [{ path: field }] }, `${name} without ${field}`);
    t.throws(() => check({ ...example, type: 'other' }), { code: 'INVALID_REQUEST' }, `${name} of another type`);
  }
});

t.test('a client may send only what is known, the server may add to what it sends', async (t) => {
  const strict: (value: unknown) => void = compile(SubscribeFrame);
  t.throws(() => strict({ type: 'subscribe', block: 'a', x: 1 }), { code: 'INVALID_REQUEST', details: [{ path: 'x' }] });
  const lenient: (value: unknown) => void = compile(RefreshFrame);
  t.doesNotThrow(() => lenient({ type: 'refresh', block: 'a', x: 1 }));
});

t.test('a step of a reply is one of four', async (t) => {
  const check: (value: unknown) => void = compile(StreamFrame);
  for (const frame of [start, content, done, fault]) t.doesNotThrow(() => check(frame), frame.event);
  t.throws(() => check({ ...step, event: 'other' }), { code: 'INVALID_REQUEST' });
});
