import t from 'tap';
import { redact } from '../../adapters/redact.ts';

t.test('shapes of keys are taken out, whoever wrote them', async (t) => {
  const table: [string, string][] = [
    ['Incorrect API key provided: sk-proj-abcdefgh12345678.', 'Incorrect API key provided: [redacted].'],
    ['sk-ant-api03-AbC_dEf-123456', '[redacted]'],
    ['an echoed part: sk-abcd****************wxyz!', 'an echoed part: [redacted]!'],
    ['AIzaSyA1234567890abcdefghijk_-', '[redacted]'],
    ['id AKIAIOSFODNN7EXAMPLE and ASIAIOSFODNN7EXAMPLE', 'id [redacted] and [redacted]'],
    ['"authorization":"Bearer abc.def-123456"', '"authorization":"[redacted]"'],
    ['bearer   token1234567', '[redacted]'],
    ['GET /v1beta/models?alt=sse&key=abc123 failed', 'GET /v1beta/models?alt=sse&key=[redacted] failed'],
    ['?X-Amz-Signature=ff00&X-Amz-Date=1', '?X-Amz-Signature=[redacted]&X-Amz-Date=1'],
    ['?a=1&X-Amz-Security-Token=IQoJ%2F%2F', '?a=1&X-Amz-Security-Token=[redacted]'],
  ];
  for (const [text, clean] of table) t.equal(redact(text, []), clean);
});

t.test('secrets in use are taken out wherever they stand', async (t) => {
  t.equal(redact('key hunter2-hunter2 and hunter2-hunter2', ['hunter2-hunter2']), 'key [redacted] and [redacted]');
  t.equal(redact('a.b*c$&', ['a.b*c$&']), '[redacted]', 'also with characters that mean something in a pattern');
  t.equal(redact('wwww-one-two', ['wwww-one', 'wwww-one-two']), '[redacted]', 'one that begins like another is taken out whole');
});

t.test('everything else stays as it is', async (t) => {
  const texts = [
    'model "gpt-4o-mini" not found',
    'The task-specific-endpoint is asking-for-more.',
    'Bearer authentication is required',
    'max_tokens: 200000 > 64000, which is the maximum',
    'messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01A09q90qw90lq917835lq9',
    '{"error":"monkey=banana"}',
    '',
  ];
  for (const text of texts) t.equal(redact(text, ['', 'abc']), text);
});
