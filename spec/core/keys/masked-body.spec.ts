import t from 'tap';
import { maskedBody, maskerOf } from '../../../core/keys/masked-body.ts';

const KNOWN = 'a-secret-of-the-provider';

t.test('secrets are taken out by what they are, and by the name of their field', async (t) => {
  const table: [string, string][] = [
    [`{"content":"see ${KNOWN}"}`, '{"content":"see [redacted]"}'],
    [`{"content":"${KNOWN.toUpperCase()}"}`, '{"content":"[redacted]"}'],
    [`{"content":"bhk_${'x'.repeat(43)}, bh_${'y'.repeat(43)} and bhs_${'z'.repeat(60)}"}`, '{"content":"[redacted], [redacted] and [redacted]"}'],
    ['{"content":"sk-proj-abcdefgh12345678"}', '{"content":"[redacted]"}'],
    ['{"apiKey":"whatever-it-is"}', '{"apiKey":"[redacted]"}'],
    ['{"api_key" : "what\\"ever-it-is","model":"m"}', '{"api_key" : "[redacted]","model":"m"}'],
    ['{"config":{"secretAccessKey":"abcdefgh","region":"r"}}', '{"config":{"secretAccessKey":"[redacted]","region":"r"}}'],
    ['{"password":"never closed because it is c', '{"password":"[redacted]'],
    ['{"arguments":"{\\"password\\":\\"hunter2hunter2\\",\\"n\\":1}"}', '{"arguments":"{\\"password\\":\\"[redacted]\\",\\"n\\":1}"}'],
  ];
  for (const [text, clean] of table) t.equal(maskedBody(text, [KNOWN]), clean, text);
});

t.test('what only sounds alike stays', async (t) => {
  for (const text of [
    '{"max_tokens":12345678}',
    '{"logprobs":[{"token":"Hello","logprob":-1}]}',
    '{"secretary":"Mrs. Miller"}',
    '{"content":"the password"}',
    '',
  ])
    t.equal(maskedBody(text, [KNOWN]), text);
});

t.test('a long body of many fields takes time in proportion to it', async (t) => {
  const time = (text: string): number => {
    const before = process.cpuUsage();
    maskedBody(text, [KNOWN]);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  for (const piece of ['"password":"', '\\"password\\":\\"', '"', '\\', '"a":"\\'] as const) {
    const text = piece.repeat(65_536 / piece.length);
    time(text);
    t.ok(Math.min(time(text), time(text)) < 2_000_000, piece);
  }
});

t.test('of auth.json all secrets are taken out, also those of servers of tools, hooks and targets', async (t) => {
  const credentials = { entry: () => undefined, secretTexts: () => ['of-a-server-of-tools', 'short'] };
  t.equal(maskerOf([], credentials, {})('{"content":"it is of-a-server-of-tools, in short"}'), '{"content":"it is [redacted], in short"}');
  t.equal(maskerOf([], undefined, {})('{"content":"plain"}'), '{"content":"plain"}');
});
