import t from 'tap';
import { maskedResult } from '../../../adapters/tools/masked-result.ts';
import { sessionsRig } from '../../support/tools/sessions-rig.ts';

t.test('the secrets of a server are taken out of texts and of structured content, keys included, and nothing else changes', async (t) => {
  const secrets = ['hunter2hunter2', 's3cr3t.+s3cr3t'];
  const parts = [
    { type: 'text', text: 'a hunter2hunter2 b hunter2hunter2, s3cr3t.+s3cr3t' },
    { type: 'image', mediaType: 'image/png', data: 'aGVsbG8=' },
  ] as const;
  const outcome = {
    kind: 'result',
    isError: true,
    parts,
    ms: 3,
    structuredContent: { hunter2hunter2: ['s3cr3t.+s3cr3t', 5, null, { a: 'hunter2' }] },
  } as const;
  t.strictSame(maskedResult(outcome, secrets), {
    ...outcome,
    parts: [{ type: 'text', text: 'a [redacted] b [redacted], [redacted]' }, parts[1]],
    structuredContent: { '[redacted]': ['[redacted]', 5, null, { a: 'hunter2' }] },
  });
  t.equal(maskedResult(outcome, []), outcome);
});

t.test('of two secrets, of which one begins with the other, nothing of the longer one stays', async (t) => {
  const outcome = { kind: 'result', isError: false, parts: [{ type: 'text', text: 'hunter2-and-more' }], ms: 3 } as const;
  t.strictSame(maskedResult(outcome, ['hunter2', 'hunter2-and-more']), { ...outcome, parts: [{ type: 'text', text: '[redacted]' }] });
});

t.test('what a server asks a person has none of its secrets; the state that it wants back stays as it is', async (t) => {
  const requests = { ask: { method: 'elicitation/create', params: { message: 'Is hunter2hunter2 right?' } } };
  const question = { kind: 'input-required', requests, requestState: 'hunter2hunter2', ms: 3 } as const;
  const masked = { ask: { method: 'elicitation/create', params: { message: 'Is [redacted] right?' } } };
  t.strictSame(maskedResult(question, ['hunter2hunter2']), { ...question, requests: masked });
});

t.test('a server that returns its own secret does not show it', async (t) => {
  const { hostile, call } = sessionsRig(t);
  const server = { ...hostile(), ownSecrets: ['hunter2hunter2'] };
  t.match(await call(server, 'echo', { text: 'It is hunter2hunter2.' }), { parts: [{ text: 'It is [redacted].' }] });
});
