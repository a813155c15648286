import t from 'tap';
import type { CallOptions } from '../../../../core/gateway/call-options.ts';
import { Chat } from '../../../../core/gateway/calls/chat.ts';
import { promptFor } from '../../../../core/gateway/support.ts';
import type { ChatRequest } from '../../../../core/schemas/chat.ts';
import { steppedAdapter } from '../../../support/stepped-adapter.ts';

const adapter = steppedAdapter();

function hashOf(request: Partial<ChatRequest>, options: CallOptions = {}): string {
  const whole: ChatRequest = { adapter: 'stepped', model: 'm', messages: [{ role: 'user', content: 'hi' }], ...request };
  const { signal } = new AbortController();
  return new Chat({ request: whole, adapter, prompt: promptFor(whole, adapter), signal, requestId: 'r', sink: undefined, options }).promptHash;
}

t.test('requests with the same prompt have the same hash, whatever else they say', async (t) => {
  const first = hashOf({});
  t.equal(hashOf({ stream: true, config: { temperature: 0.5, maxTokens: 9 } }, { requestId: 'other' }), first);
  t.not(hashOf({ messages: [{ role: 'user', content: 'other' }] }), first);
  t.not(
    hashOf({
      messages: [
        { role: 'system', content: 'other' },
        { role: 'user', content: 'hi' },
      ],
    }),
    first,
  );
  t.notMatch(first, 'hi', 'the text itself is not kept');
});
