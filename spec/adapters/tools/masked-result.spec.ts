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

t.test('a server that returns its own secret does not show it', async (t) => {
  const { hostile, call } = sessionsRig(t);
  const server = { ...hostile(), ownSecrets: ['hunter2hunter2'] };
  t.match(await call(server, 'echo', { text: 'It is hunter2hunter2.' }), { parts: [{ text: 'It is [redacted].' }] });
});
