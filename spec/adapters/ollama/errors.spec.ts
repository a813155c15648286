import t from 'tap';
import { lineError, readError } from '../../../adapters/ollama/errors.ts';
import { errorAnswer } from '../../../adapters/shared/provider-errors.ts';

t.test("a status and Ollama's text become a provider error", async (t) => {
  const table: [number, string, string, RegExp][] = [
    [400, '{"error":"\\"x\\" does not support tools"}', 'rejected', /^"x" does not support tools$/],
    [401, '{"error":"unauthorized","signin_url":"https://ollama.com/x"}', 'auth', /^unauthorized$/],
    [404, `{"error":"model 'x' not found"}`, 'rejected', /^model 'x' not found \(download it with `ollama pull`\)$/],
    [404, '404 page not found', 'rejected', /^404 page not found$/],
    [429, '{"error":"too many"}', 'rateLimited', /too many/],
    [500, '{"error":"llama runner terminated"}', 'failed', /runner/],
    [502, '<html>', 'failed', /web page/],
    [503, '{"error":"server busy, please try again.  maximum pending requests exceeded"}', 'failed', /server busy/],
    [500, '{"error":{"message":"no text"}}', 'failed', /no text/],
    [500, '', 'failed', /no error message/],
  ];
  for (const [status, text, kind, message] of table) t.match(readError(errorAnswer(status, {}, text)), { kind, message });
});

t.test('an error line is a failure of the runner', async (t) => {
  t.same(lineError({ error: 'out of memory' }), { kind: 'failed', message: 'out of memory' });
  t.match(lineError({ error: { a: 1 } }), { kind: 'failed', message: /without a message/ });
});
