import t from 'tap';
import { answerId } from '../../../../../transports/http/dialects/shared/answer-id.ts';
import type { AnswerContext } from '../../../../../transports/http/dialects/shared/dialect.ts';

const idOf = (requestId: string): string => answerId({ requestId } as AnswerContext);

t.test("an answer has its request's id without the prefix, and a client's own id as it is", async (t) => {
  t.equal(idOf('req_0a1b'), '0a1b');
  t.equal(idOf('trace-7'), 'trace-7');
  t.equal(idOf('my.req_1'), 'my.req_1');
});
