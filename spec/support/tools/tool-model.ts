// A model that calls tools, before the wire of the daemon: what it says next is a function of the conversation that it is sent.
import { type Answerer, type RecordedRequest, sendJson } from '../upstream.ts';

export interface WireCall {
  readonly name: string;
  readonly arguments: object;
}

export interface WireMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: object } }[];
}

/** What a request shows the model. */
export interface Seen {
  readonly messages: readonly WireMessage[];
  readonly tools: readonly string[];
  /** The results that stand after the last message of the user that is no note of ours. */
  readonly results: readonly string[];
  /** The last message of the user, which is not from us. */
  readonly question: string;
}

/** A text, or calls, with a text before them. */
export type Said = string | readonly WireCall[] | { readonly text: string; readonly calls: readonly WireCall[] };

const NOTES = /^(You have used all steps|The user asks for this again)/;

export function seenIn(request: RecordedRequest): Seen {
  const { messages, tools = [] } = JSON.parse(request.body) as { messages: WireMessage[]; tools?: { function: { name: string } }[] };
  const last = messages.findLastIndex(({ role, content }) => role === 'user' && !NOTES.test(content));
  const results = messages.slice(last).filter(({ role }) => role === 'tool');
  return { messages, tools: tools.map((tool) => tool.function.name), results: results.map(({ content }) => content), question: messages[last]?.content ?? '' };
}

/** Answers each chat with what `say` says. */
export function toolModel(say: (seen: Seen, index: number) => Said | Promise<Said>): Answerer {
  return async (request, res, index) => {
    if (request.path === '/api/tags') return sendJson(res, { models: [{ name: 'm' }] });
    const said = await say(seenIn(request), index);
    if (res.destroyed) return;
    const text = typeof said === 'string' ? said : 'text' in said ? said.text : '';
    const calls = typeof said === 'string' ? [] : 'calls' in said ? said.calls : said;
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const message = { role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls.map((call) => ({ function: call })) }) };
    res.write(`${JSON.stringify({ message, done: false })}\n`);
    res.end(`${JSON.stringify({ message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 10, eval_count: 5 })}\n`);
  };
}
