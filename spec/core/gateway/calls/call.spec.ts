import t from 'tap';
import type { CallOptions } from '../../../../core/gateway/call-options.ts';
import { Chat } from '../../../../core/gateway/calls/chat.ts';
import { promptFor } from '../../../../core/gateway/support.ts';
import { steppedAdapter } from '../../../support/stepped-adapter.ts';

const adapter = steppedAdapter();

function accepted(model: string, options: CallOptions): Chat {
  const request = { adapter: 'stepped', model, messages: [{ role: 'user' as const, content: 'hi' }] };
  const { signal } = new AbortController();
  return new Chat({ request, adapter, prompt: promptFor(request, adapter), signal, requestId: 'r', sink: undefined, options });
}

t.test('a client is a key, a block or the token, and none has the name of another', async (t) => {
  const clients = [{ caller: 'ada' }, { key: 'ada' }, { key: 'token' }, {}].map((options) => accepted('m', options).client);
  t.equal(new Set(clients).size, 4);
  t.equal(accepted('other', { key: 'ada', caller: 'bob' }).client, accepted('m', { key: 'ada' }).client);
  t.equal(accepted('m', { caller: 'bob', sentWith: 'ada' }).client, accepted('m', { key: 'ada' }).client, 'a block that answers a key');
});

t.test('a named client is to blame for all its prompts', async (t) => {
  for (const options of [{ caller: 'ada' }, { key: 'ada' }]) t.equal(accepted('m', options).promptHash, '');
  t.not(accepted('m', {}).promptHash, '');
});
