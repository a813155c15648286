import type OpenAI from 'openai';
import t from 'tap';
import type { ChatCompletionsRequest, InputItem, ReasoningItem, ResponsesRequest } from '../../../adapters/openai/schema.ts';

// The compiler does the testing here: each line fails to compile when a shape of ours is none of the official client's.
type Sent<T> = Omit<T, 'input'>;
const toResponses = (body: Sent<ResponsesRequest>): Omit<OpenAI.Responses.ResponseCreateParams, 'input'> => body;
const toInput = (item: Exclude<InputItem, ReasoningItem>): OpenAI.Responses.ResponseInputItem => item;
const toChat = (body: ChatCompletionsRequest): OpenAI.ChatCompletionCreateParams => body;

t.test('what is sent is what the official client may send', async (t) => {
  const chat: ChatCompletionsRequest = { model: 'm', messages: [{ role: 'assistant', content: null }] };
  t.equal(toChat(chat), chat);
  t.same(toInput({ type: 'function_call_output', call_id: 'c', output: '' }), { type: 'function_call_output', call_id: 'c', output: '' });
  t.same(toResponses({ model: 'm', max_output_tokens: 16, store: false, stream: true }).store, false);
});
