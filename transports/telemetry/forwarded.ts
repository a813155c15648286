// What requests and answers say that go through in the provider's own protocol, read from their bytes: only where content is exported (contents.ts). The protocols of clients
// differ in where texts stand, and not in what their fields are called, so that one reader takes them all: `messages`, `input` and `prompt`, `choices`, `content` and `output`.
//
// bounded: a request or a whole answer of more than MAX_READ_BYTES is not read, nor a line of a stream.
// forgiving: what is not known is left out. Nothing here throws.
import { StringDecoder } from 'node:string_decoder';
import { isObject, tryParseJson } from '../../core/base/json.ts';
import type { ChatEvent, ContentPart, Prompt, ToolCall, Turn } from '../../core/index.ts';

/** Of one request, one whole answer, and one line of a stream. */
export const MAX_READ_BYTES = 1024 * 1024;

type Fields = Readonly<Record<string, unknown>>;
type Piece = { readonly part: ContentPart } | { readonly call: ToolCall };
type Result = Extract<Turn, { readonly role: 'tool' }>['results'][number];

function asRecord(value: unknown): Fields | undefined {
  return isObject(value) ? value : undefined;
}

/** What a request asks; undefined if it is too large, or no JSON. */
export function readRequest(body: Buffer, fields: Fields | undefined): Pick<Prompt, 'turns' | 'system'> | undefined {
  const request = fields ?? (body.length > MAX_READ_BYTES ? undefined : asRecord(tryParseJson(body.toString())));
  if (request === undefined) return undefined;
  const system = [textOf(request['system']), textOf(request['instructions'])];
  const turns: Turn[] = [];
  for (const message of messagesOf(request)) {
    if (message['role'] === 'system' || message['role'] === 'developer') system.push(textOf(message['content']));
    else turns.push(...turnsOf(message));
  }
  const all = system.filter((text) => text !== '').join('\n\n');
  return { turns, system: all === '' ? undefined : all };
}

function messagesOf({ messages, input, prompt }: Fields): Fields[] {
  const given = messages ?? input ?? prompt;
  const list: readonly unknown[] = Array.isArray(given) ? given : given === undefined ? [] : [given];
  return list.map((one) => asRecord(one) ?? { role: 'user', content: String(one) });
}

/** The results in a message are a turn of their own. */
function turnsOf(message: Fields): Turn[] {
  const { role, type, content } = message;
  if (type === 'function_call_output') return [resultsTurn([resultOf(message['call_id'], message['output'])])];
  if (role === 'tool') return [resultsTurn([resultOf(message['tool_call_id'], content)])];
  const blocks = blocksOf(type === 'function_call' || type === 'reasoning' ? [message] : content);
  const results = blocks.filter((block) => block['type'] === 'tool_result').map((block) => resultOf(block['tool_use_id'], block['content']));
  const pieces = [...reasoningOf(message), ...blocks.flatMap(piecesOf), ...callsOf(message['tool_calls'])];
  const turns: Turn[] = results.length > 0 ? [resultsTurn(results)] : [];
  if (role === 'assistant' || role === 'model' || role === undefined) {
    if (pieces.length > 0) turns.push({ role: 'assistant', text: '', toolCalls: [], order: pieces });
  } else {
    const parts = pieces.flatMap((piece) => ('part' in piece ? [piece.part] : []));
    if (parts.length > 0) turns.push({ role: 'user', text: '', parts });
  }
  return turns;
}

function resultsTurn(results: readonly Result[]): Turn {
  return { role: 'tool', results } as Turn;
}

function resultOf(id: unknown, content: unknown): Result {
  return { toolCallId: String(id), content: textOf(content) } as Result;
}

function blocksOf(content: unknown): Fields[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const list: readonly unknown[] = Array.isArray(content) ? content : [];
  return list.flatMap((one): Fields[] => {
    if (typeof one === 'string') return [{ type: 'text', text: one }];
    const block = asRecord(one);
    return block === undefined ? [] : [block];
  });
}

/** All texts of a content. */
function textOf(content: unknown): string {
  return blocksOf(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}

const TEXTS: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text', 'refusal']);

function piecesOf(block: Fields): Piece[] {
  const { type, text, refusal, thinking } = block;
  if (TEXTS.has(type)) return textPiece('text', text ?? refusal);
  if (type === 'thinking') return textPiece('reasoning', thinking);
  if (type === 'reasoning') return textPiece('reasoning', textOf(block['summary']));
  if (type === 'tool_use') return [callPiece(block['id'], block['name'], block['input'])];
  if (type === 'function_call') return [callPiece(block['call_id'], block['name'], block['arguments'])];
  const media = ['image', 'audio', 'document', 'file'].find((kind) => String(type).includes(kind));
  if (media === undefined) return [];
  const { media_type: mediaType, data } = asRecord(block['source']) ?? asRecord(block['input_audio']) ?? {};
  const where = typeof data === 'string' ? { data } : { url: '' }; // its size is not known; neither goes out
  const part = { type: media === 'file' ? 'document' : media, ...where, ...(typeof mediaType === 'string' && { mediaType }) };
  return [{ part: part as ContentPart }];
}

function textPiece(type: 'text' | 'reasoning', text: unknown): Piece[] {
  return typeof text === 'string' && text !== '' ? [{ part: { type, text } }] : [];
}

/** Some servers put it beside the content. */
function reasoningOf({ reasoning_content: one, reasoning: other }: Fields): Piece[] {
  return textPiece('reasoning', one ?? other);
}

function callsOf(calls: unknown): Piece[] {
  if (!Array.isArray(calls)) return [];
  return calls.map((one) => {
    const { id, function: of } = asRecord(one) ?? {};
    const { name, arguments: given } = asRecord(of) ?? {};
    return callPiece(id, name, given);
  });
}

function callPiece(id: unknown, name: unknown, given: unknown): Piece {
  const value = typeof given === 'string' ? (tryParseJson(given) ?? given) : (given ?? {});
  return { call: { id: String(id), name: String(name), arguments: value as ToolCall['arguments'] } };
}

/** Reads an answer as its bytes come, whole or as a stream. */
export class AnswerReader {
  readonly #take: (events: readonly ChatEvent[]) => void;
  readonly #decoder = new StringDecoder('utf8');
  readonly #calls = new Map<unknown, { id: unknown; name: unknown; given: string }>();
  /** A whole answer, or the beginning of a line. */
  #text = '';
  #isWhole: boolean | undefined;
  #isCut = false;

  /** `take` gets what is said, in pieces. */
  constructor(take: (events: readonly ChatEvent[]) => void) {
    this.#take = take;
  }

  /** True if it was too large. */
  get isCut(): boolean {
    return this.#isCut;
  }

  add(bytes: Buffer): void {
    if (this.#isCut) return;
    this.#text += this.#decoder.write(bytes);
    this.#isWhole ??= this.#text.trimStart() === '' ? undefined : this.#text.trimStart().startsWith('{');
    if (this.#isWhole === false) this.#takeLines();
    if (this.#text.length <= MAX_READ_BYTES) return;
    this.#isCut = true; // bounded
    this.#text = '';
  }

  /** The answer has ended, or broken off. */
  end(): void {
    if (this.#isWhole === true) this.#takeWhole(asRecord(tryParseJson(this.#text)) ?? {});
    else this.#takeLine(this.#text);
    for (const { id, name, given } of this.#calls.values()) this.#takePieces([callPiece(id, name, given === '' ? '{}' : given)]);
    this.#calls.clear();
    this.#text = '';
  }

  #takeLines(): void {
    let start = 0;
    for (let end = this.#text.indexOf('\n'); end >= 0; end = this.#text.indexOf('\n', start)) {
      this.#takeLine(this.#text.slice(start, end));
      start = end + 1;
    }
    this.#text = this.#text.slice(start);
  }

  #takeLine(line: string): void {
    const frame = line.startsWith('data:') ? asRecord(tryParseJson(line.slice('data:'.length))) : undefined;
    if (frame !== undefined) this.#takeFrame(frame);
  }

  /** The first of several answers. */
  #takeWhole({ choices, content, output }: Fields): void {
    const choice = Array.isArray(choices) ? asRecord(choices[0]) : undefined;
    const message = asRecord(choice?.['message']) ?? {};
    this.#takePieces([...reasoningOf(message), ...blocksOf(message['content']).flatMap(piecesOf), ...callsOf(message['tool_calls'])]);
    this.#takePieces([...textPiece('text', choice?.['text']), ...blocksOf(content).flatMap(piecesOf)]);
    for (const item of blocksOf(output)) this.#takePieces(item['type'] === 'message' ? blocksOf(item['content']).flatMap(piecesOf) : piecesOf(item));
  }

  #takeFrame(frame: Fields): void {
    const { choices, type, delta, index, content_block: block, item } = frame;
    const choice = Array.isArray(choices) ? asRecord(choices.find((one) => (asRecord(one)?.['index'] ?? 0) === 0)) : undefined;
    const said = asRecord(choice?.['delta']) ?? {};
    this.#takePieces([...reasoningOf(said), ...textPiece('text', said['content'] ?? choice?.['text'])]);
    if (Array.isArray(said['tool_calls'])) for (const call of said['tool_calls']) this.#addCall(asRecord(call) ?? {});
    if (type === 'content_block_start' && asRecord(block)?.['type'] === 'tool_use')
      this.#calls.set(index, { id: asRecord(block)?.['id'], name: asRecord(block)?.['name'], given: '' });
    if (type === 'content_block_delta') this.#takeDelta(index, asRecord(delta) ?? {});
    if (type === 'response.output_text.delta') this.#takePieces(textPiece('text', delta));
    if (type === 'response.reasoning_summary_text.delta') this.#takePieces(textPiece('reasoning', delta));
    if (type === 'response.output_item.done' && asRecord(item)?.['type'] === 'function_call') this.#takePieces(piecesOf(asRecord(item) ?? {}));
  }

  #takeDelta(index: unknown, { text, thinking, partial_json: more }: Fields): void {
    this.#takePieces([...textPiece('reasoning', thinking), ...textPiece('text', text)]);
    const call = this.#calls.get(index);
    if (call !== undefined && typeof more === 'string') this.#append(call, more);
  }

  #addCall({ index, id, function: of }: Fields): void {
    const { name, arguments: more } = asRecord(of) ?? {};
    const call = this.#calls.get(index) ?? { id, name, given: '' };
    this.#calls.set(index, call);
    if (typeof more === 'string') this.#append(call, more);
  }

  #append(call: { given: string }, more: string): void {
    if (call.given.length + more.length <= MAX_READ_BYTES) call.given += more; // bounded
  }

  #takePieces(pieces: readonly Piece[]): void {
    const events = pieces.map((piece) =>
      'call' in piece ? { type: 'toolCall', toolCall: piece.call } : { type: piece.part.type, text: piece.part.text ?? '' },
    );
    if (events.length > 0) this.#take(events as readonly ChatEvent[]);
  }
}
