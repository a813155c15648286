import t from 'tap';
import { AcceptedChat } from '../../../core/gateway/accepted-chat.ts';
import type { CallOptions } from '../../../core/gateway/call-options.ts';
import { promptFor } from '../../../core/gateway/support.ts';
import { steppedAdapter } from '../../support/stepped-adapter.ts';

const adapter = steppedAdapter();

function accepted(model: string, options: CallOptions): AcceptedChat {
  const request = { adapter: 'stepped', model, messages: [{ role: 'user' as const, content: 'hi' }] };
  const { signal } = new AbortController();
  return new AcceptedChat({ request, adapter, prompt: promptFor(request, adapter), signal, requestId: 'r', sink: undefined, options });
}

t.test('a named caller is one source, whatever it asks', async (t) => {
  const { source } = accepted('m', { caller: 'ada' });
  t.equal(accepted('other', { caller: 'ada' }).source, source);
  t.not(accepted('m', { caller: 'bob' }).source, source);
  t.not(accepted('m', {}).source, source);
});

t.test('the caller hears of each attempt, and what it throws goes on', async (t) => {
  const onTurn = (): void => {
    throw new Error('not now');
  };
  t.throws(() => accepted('m', { onTurn }).tellTurn(), { message: 'not now' });
  t.doesNotThrow(() => accepted('m', {}).tellTurn());
});
