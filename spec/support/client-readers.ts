// Strict readers of the three protocols: what a client takes out of an answer, and what it sends next.
import { type Client, dataOf, type Fields } from './dialect-clients.ts';

/** A call as a client sees it. */
export interface SeenCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly arguments: unknown;
}

/** The calls of a whole answer, and why it ended. */
export const READ_WHOLE: Readonly<Record<Client['id'], (answer: Fields) => { readonly calls: readonly SeenCall[]; readonly stop: unknown }>> = {
  chat(answer) {
    const [choice] = answer['choices'] as {
      finish_reason: string;
      message: { tool_calls?: { id: string; function: { name: string; arguments: string } }[] };
    }[];
    const calls = (choice?.message.tool_calls ?? []).map(({ id, function: { name, arguments: json } }) => ({
      id,
      name,
      arguments: JSON.parse(json) as unknown,
    }));
    return { calls, stop: choice?.finish_reason };
  },
  responses(answer) {
    const items = (answer['output'] as Fields[]).filter(({ type }) => type === 'function_call');
    return {
      calls: items.map((item) => ({ id: item['call_id'], name: item['name'], arguments: JSON.parse(String(item['arguments'])) as unknown })),
      stop: answer['status'],
    };
  },
  messages(answer) {
    const blocks = (answer['content'] as Fields[]).filter(({ type }) => type === 'tool_use');
    return { calls: blocks.map(({ id, name, input }) => ({ id, name, arguments: input })), stop: answer['stop_reason'] };
  },
};

/** The calls of a stream as a strict reader joins them: by index, with an id and a name that come once. */
export const READ_STREAM: Readonly<Record<Client['id'], (stream: string) => readonly SeenCall[]>> = {
  chat(stream) {
    const calls = new Map<number, { id: string; name: string; json: string }>();
    for (const chunk of dataOf(stream)) {
      const [choice] = chunk['choices'] as { delta: { tool_calls?: { index: number; id?: string; function: { name?: string; arguments?: string } }[] } }[];
      for (const { index, id, function: piece } of choice?.delta.tool_calls ?? []) {
        const call = calls.get(index) ?? { id: '', name: '', json: '' };
        calls.set(index, { id: call.id + (id ?? ''), name: call.name + (piece.name ?? ''), json: call.json + (piece.arguments ?? '') });
      }
    }
    return [...calls.values()].map(({ id, name, json }) => ({ id, name, arguments: JSON.parse(json) as unknown }));
  },
  responses(stream) {
    const events = dataOf(stream);
    return events
      .filter(({ type }) => type === 'response.function_call_arguments.done')
      .map((done) => {
        const deltas = events.filter((event) => event['type'] === 'response.function_call_arguments.delta' && event['item_id'] === done['item_id']);
        const added = events.find((event) => event['type'] === 'response.output_item.added' && event['output_index'] === done['output_index'])?.[
          'item'
        ] as Fields;
        return { id: added['call_id'], name: added['name'], arguments: JSON.parse(deltas.map(({ delta }) => delta).join('')) as unknown };
      });
  },
  messages(stream) {
    const events = dataOf(stream);
    return events
      .filter((event) => event['type'] === 'content_block_start' && (event['content_block'] as Fields)['type'] === 'tool_use')
      .map((start) => {
        const deltas = events.filter((event) => event['type'] === 'content_block_delta' && event['index'] === start['index']);
        const { id, name } = start['content_block'] as Fields;
        return { id, name, arguments: JSON.parse(deltas.map(({ delta }) => (delta as Fields)['partial_json']).join('')) as unknown };
      });
  },
};

/** The turns after an answer that calls: the answer as it came, and a result for its call. */
export const NEXT: Readonly<Record<Client['id'], (answer: Fields) => Fields>> = {
  chat(answer) {
    const [choice] = answer['choices'] as { message: Fields & { tool_calls: { id: string }[] } }[];
    const results = choice?.message.tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '3 C' })) ?? [];
    return { messages: [{ role: 'user', content: 'hi' }, choice?.message, ...results] };
  },
  responses(answer) {
    const output = answer['output'] as Fields[];
    const results = output.flatMap(({ call_id }) => (call_id === undefined ? [] : [{ type: 'function_call_output', call_id, output: '3 C' }]));
    return { input: [{ role: 'user', content: 'hi' }, ...output, ...results] };
  },
  messages(answer) {
    const content = answer['content'] as Fields[];
    const results = content.flatMap(({ type, id }) => (type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: '3 C' }] : []));
    return {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content },
        { role: 'user', content: results },
      ],
    };
  },
};

/** The usage of a streamed answer; undefined without one. */
export const STREAMED_USAGE: Readonly<Record<Client['id'], (stream: string) => Fields | undefined>> = {
  chat: (stream) => dataOf(stream).at(-1)?.['usage'] as Fields | undefined,
  responses: (stream) => (dataOf(stream).at(-1)?.['response'] as Fields | undefined)?.['usage'] as Fields | undefined,
  messages: (stream) => dataOf(stream).find(({ type }) => type === 'message_delta')?.['usage'] as Fields | undefined,
};

/** A tool in the words of each protocol. */
export function toolOf({ id }: Client, name: string, parameters: object): Fields {
  if (id === 'chat') return { type: 'function', function: { name, parameters } };
  return id === 'responses' ? { type: 'function', name, parameters, strict: null } : { name, input_schema: parameters };
}
