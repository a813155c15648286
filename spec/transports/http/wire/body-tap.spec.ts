import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import type { Core, NamedKey } from '../../../../core/index.ts';
import { createBus } from '../../../../core/bus.ts';
import { maskedBody } from '../../../../core/keys/masked-body.ts';
import type { DebuggedBodies } from '../../../../core/types.ts';
import { tapOf } from '../../../../transports/http/wire/body-tap.ts';

const KEY = { name: 'app', debugUntil: '2026-11-28T10:00:00.000Z' } as NamedKey;

class Answer extends EventEmitter {
  headersSent = false;
  statusCode = 200;
  readonly sent: unknown[] = [];

  write(...given: unknown[]): boolean {
    this.headersSent = true;
    this.sent.push(...given);
    return false;
  }

  end(...given: unknown[]): this {
    this.headersSent = true;
    this.sent.push(...given);
    return this;
  }
}

function rig(_t: Test, { isDebugged = true, secrets = (): readonly string[] => [] } = {}) {
  const events = createBus();
  const faults: string[] = [];
  events.on('workspace.fault', ({ error }) => void faults.push(error));
  const kept: DebuggedBodies[] = [];
  const bodies = { keep: (each: DebuggedBodies) => void kept.push(each) };
  const core = {
    events,
    bodies,
    keys: { isDebugged: () => isDebugged },
    masker: () =>
      (
        (known) => (text: string) =>
          maskedBody(text, known)
      )(secrets()),
  } as unknown as Core;
  const tap = (key = KEY) => {
    const answer = new Answer();
    return { answer, tap: tapOf({ core, key, res: answer as unknown as ServerResponse, path: '/v1/chat', requestId: 'r' }) };
  };
  return { tap, kept, faults };
}

t.test('an answer is taken along as it is written, and goes on as before', async (t) => {
  const { tap, kept } = rig(t, { secrets: () => ['the-secret-of-all'] });
  const { answer, tap: made } = tap();
  made?.request(Buffer.from('{"content":"the-secret-of-all"}'));
  t.equal(answer.write('é', 'latin1'), false);
  answer.write(Buffer.from('b'));
  t.equal(answer.end('c'), answer);
  answer.emit('close');
  t.match(kept, [{ requestId: 'r', key: 'app', status: 200, request: { text: '{"content":"[redacted]"}', bytes: 31 }, answer: { text: '\ufffdbc' } }]);
  t.same(answer.sent, ['é', 'latin1', Buffer.from('b'), 'c']);
});

t.test('a client that left before its answer has none', async (t) => {
  const { tap, kept } = rig(t);
  const { answer } = tap();
  answer.emit('close');
  t.match(kept, [{ status: 0, request: { text: '', bytes: 0, cut: false }, answer: { text: '', bytes: 0, cut: false } }]);
});

t.test('of each body, the beginning is kept, without the half of a letter', async (t) => {
  const { tap, kept } = rig(t);
  const { answer, tap: made } = tap();
  made?.request(Buffer.from(`x${'ö'.repeat(40_000)}`));
  for (let index = 0; index < 100; index += 1) answer.write('y'.repeat(1000));
  answer.end();
  answer.emit('close');
  const [bodies] = kept;
  t.match(bodies?.request, { bytes: 80_001, cut: true, text: `x${'ö'.repeat(32_767)}` });
  t.same([bodies?.answer.bytes, bodies?.answer.text.length, bodies?.answer.cut], [100_000, 65_536, true]);
});

t.test('the half of a letter is all that is taken off, whatever stands before it', async (t) => {
  const { tap, kept } = rig(t);
  const { answer, tap: made } = tap();
  made?.request(Buffer.from('\ufffd'.repeat(30_000)));
  answer.end(Buffer.concat([Buffer.alloc(65_535, 0xff), Buffer.from('yy')])); // a pattern that looks for the end of such a row at each of its places takes seconds
  answer.emit('close');
  t.equal(kept[0]?.request.text.length, 21_845);
  t.equal(kept[0]?.answer.text.length, 65_536);
});

t.test('without the secrets nothing can be masked, so nothing is kept, and that is told', async (t) => {
  const { tap, kept, faults } = rig(t, {
    secrets: () => {
      throw new Error('auth.json is damaged');
    },
  });
  tap().answer.emit('close');
  t.same(kept, []);
  t.equal(faults.length, 1);
});

t.test('a key that is not debugged, or no longer, is left alone', async (t) => {
  t.equal(rig(t).tap({ name: 'app' } as NamedKey).tap, undefined);
  const { answer, tap } = rig(t, { isDebugged: false }).tap();
  t.equal(tap, undefined);
  t.equal(answer.write, Answer.prototype.write);
});

t.test('so many a second, and no more', async (t) => {
  const { tap, kept } = rig(t);
  const made = Array.from({ length: 30 }, () => tap());
  t.equal(made.filter((each) => each.tap !== undefined).length, 20);
  for (const { answer } of made) answer.emit('close');
  t.equal(kept.length, 20);
});
