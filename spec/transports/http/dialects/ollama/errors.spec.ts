import t from 'tap';
import { BlockhouseError, type ErrorCode } from '../../../../../core/index.ts';
import { ollamaFault } from '../../../../../transports/http/dialects/ollama/errors.ts';

t.test('an error is one text, with the status that the other protocols give it', async (t) => {
  const statuses: [ErrorCode, number][] = [
    ['INVALID_REQUEST', 400],
    ['UNAUTHORIZED', 401],
    ['MODEL_NOT_FOUND', 404],
    ['BODY_TOO_LARGE', 413],
    ['QUEUE_FULL', 429],
    ['UPSTREAM_AUTH', 502],
    ['ADAPTER_NOT_CONFIGURED', 503],
    ['UPSTREAM_TIMEOUT', 504],
  ];
  for (const [code, status] of statuses) t.match(ollamaFault(new BlockhouseError(code, 'No.')), { status, body: { error: 'No.' } }, code);
});

t.test('the text of a fault of our own is not told', async (t) => {
  const { body } = ollamaFault(new BlockhouseError('INTERNAL_ERROR', 'secret'));
  t.notMatch(JSON.stringify(body), 'secret');
});
