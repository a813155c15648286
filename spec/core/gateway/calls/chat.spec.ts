import t from 'tap';
import type { Permit } from '../../../../core/gateway/breaker.ts';
import type { CallOptions } from '../../../../core/gateway/call-options.ts';
import { Chat } from '../../../../core/gateway/calls/chat.ts';
import { promptFor } from '../../../../core/gateway/support.ts';
import type { ContentTap } from '../../../../core/ports.ts';
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

t.test('an answer may have as much output as its request allows, and more than a limit that nobody has set if it reasons', async (t) => {
  const supports = { options: ['reasoning'] as const };
  const mostOf = (config: ChatRequest['config'], leavesTokenLimit = false): number => {
    const reasoning = steppedAdapter([], { supports });
    const request: ChatRequest = { adapter: 'stepped', model: 'm', messages: [{ role: 'user', content: 'hi' }], ...(config !== undefined && { config }) };
    const { signal } = new AbortController();
    const prompt = promptFor(request, reasoning, leavesTokenLimit);
    return new Chat({ request, adapter: reasoning, prompt, signal, requestId: 'r', sink: undefined, options: {} }).mostUnseen;
  };
  t.equal(mostOf({ maxTokens: 70 }), 70);
  t.equal(mostOf(undefined), 4096);
  t.equal(mostOf({ maxTokens: 70, reasoning: { effort: 'high' } }), 70);
  t.equal(mostOf({ reasoning: { effort: 'high' } }), 128_000, 'some providers get the limit and the reasoning on top of it');
  t.equal(mostOf(undefined, true), 128_000);
});

t.test('a tap hears of each attempt with its prompt, and may leave it', async (t) => {
  const request: ChatRequest = { adapter: 'stepped', model: 'm', messages: [{ role: 'user', content: 'hi' }] };
  const prompt = promptFor(request, adapter);
  const { signal } = new AbortController();
  const heard: unknown[] = [];
  const permit = { succeed: () => undefined, fail: () => undefined } as unknown as Permit;
  const attemptOf = (isWanted: boolean) => {
    const tap: ContentTap = {
      begin: (call) => {
        heard.push(call);
        return isWanted ? (events) => void heard.push(events) : undefined;
      },
    };
    const chat = new Chat({ request, adapter, prompt, signal, requestId: 'r', sink: undefined, options: { caller: 'ada' }, tap });
    return { chat, attempt: chat.newAttempt(permit, () => 0) };
  };
  const events = [{ type: 'text', text: 'yes' }] as const;
  const read = attemptOf(true);
  read.attempt.emit(events);
  t.strictSame(heard.splice(0), [{ call: read.chat.number, traceparent: undefined, caller: 'ada', prompt }, events]);
  t.equal(read.attempt.firstTextAt, 0, 'the attempt has the events, too');
  attemptOf(false).attempt.emit(events);
  t.equal(heard.length, 1);
});
