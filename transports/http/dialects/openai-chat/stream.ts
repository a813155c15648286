// A canonical answer as chunks of a chat completion. Pure: no I/O.
//
// role-first: the first delta has the role, whatever the answer begins with.
// once-named: the id and the name of a call come once, and its index counts up from 0.
import type { AnswerPiece, BlockhouseError, ChatDone, ToolCall } from '../../../../core/index.ts';
import type { AnswerContext, DialectStream } from '../shared/dialect.ts';
import { errorChunk, finishReason, usageText } from '../shared/openai-answers.ts';
import { customInput } from '../shared/tool-calls.ts';
import type { ChatEcho } from './request.ts';
import { completionId, logprobsOf, stateOf } from './response.ts';

/** A call that has begun. */
interface OpenCall {
  readonly index: number;
  readonly isCustom: boolean;
}

/** The chunks of one answer. */
export class ChatChunks implements DialectStream {
  readonly #context: AnswerContext<ChatEcho>;
  /** By the gateway's own index. */
  readonly #open = new Map<number, OpenCall>();
  #calls = 0;
  #hasRole = false;
  /** A chunk up to its choices. */
  readonly #head: string;
  /** A chunk up to its delta. */
  readonly #before: string;

  constructor(context: AnswerContext<ChatEcho>) {
    this.#context = context;
    const { created, request } = context;
    this.#head = `data: {"id":"${completionId(context)}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(request.model)},"choices":[`;
    this.#before = `${this.#head}{"index":0,"delta":`;
  }

  pieces(pieces: readonly AnswerPiece[]): string {
    let text = '';
    for (const piece of pieces) text += this.#piece(piece);
    return text;
  }

  done(done: ChatDone): string {
    const usage = this.#context.request.echo.includeUsage ? `${this.#head}],"usage":${usageText(done.usage)}}\n\n` : '';
    return `${this.#begin()}${this.#choice({}, finishReason(done.stopReason), logprobsOf(done))}${usage}data: [DONE]\n\n`;
  }

  error(failure: BlockhouseError): string {
    return errorChunk(failure);
  }

  keepAlive(): string {
    return ': keep-alive\n\n';
  }

  /** role-first. */
  #begin(): string {
    if (this.#hasRole) return '';
    this.#hasRole = true;
    return this.#choice({ role: 'assistant', content: '' });
  }

  #piece(piece: AnswerPiece): string {
    if (piece.type === 'reasoningState') return ''; // the end has it
    const begin = this.#begin();
    switch (piece.type) {
      case 'text':
        return begin + this.#words('content', piece.text);
      case 'reasoning':
        return begin + this.#words('reasoning_content', piece.text);
      case 'toolCallStart':
        return begin + this.#start(piece.index, piece.id, piece.name);
      case 'toolCallDelta':
        return begin + this.#argument(piece.index, piece.text);
      case 'toolCall':
        return begin + this.#whole(piece.toolCall, piece.index);
    }
  }

  /** The same as a choice with this delta, at a quarter of its cost. */
  #words(field: 'content' | 'reasoning_content', text: string): string {
    return `${this.#before}{"${field}":${JSON.stringify(text)}},"finish_reason":null}]}\n\n`;
  }

  /** once-named. */
  #start(key: number, id: string, name: string, state: object = {}): string {
    const { names, customTools } = this.#context.request.echo;
    const theirs = names.toTheirs(name);
    const call = { index: this.#calls, isCustom: customTools.has(theirs) };
    this.#calls += 1;
    this.#open.set(key, call);
    const shape = call.isCustom ? { type: 'custom', custom: { name: theirs, input: '' } } : { type: 'function', function: { name: theirs, arguments: '' } };
    return this.#choice({ tool_calls: [{ index: call.index, id, ...shape, ...state }] });
  }

  /** The pieces of a custom tool's text are wrapped in JSON until its end, so it comes whole. */
  #argument(key: number, text: string): string {
    const call = this.#open.get(key);
    return call === undefined || call.isCustom ? '' : this.#choice({ tool_calls: [{ index: call.index, function: { arguments: text } }] });
  }

  #whole(toolCall: ToolCall, key: number | undefined): string {
    const open = key === undefined ? undefined : this.#open.get(key);
    if (open !== undefined) return open.isCustom ? this.#choice({ tool_calls: [{ index: open.index, custom: { input: customInput(toolCall) } }] }) : '';
    const own = -1 - this.#calls; // below every index of the gateway
    const begin = this.#start(own, toolCall.id, toolCall.name, stateOf(toolCall));
    const call = this.#open.get(own);
    const rest = call?.isCustom === true ? { custom: { input: customInput(toolCall) } } : { function: { arguments: JSON.stringify(toolCall.arguments) } };
    return begin + this.#choice({ tool_calls: [{ index: call?.index, ...rest }] });
  }

  /** The probabilities of all tokens come with the last choice; readers add up those of all choices. */
  #choice(delta: object, finish: string | null = null, logprobs: object | null = null): string {
    const further = logprobs === null ? '' : `,"logprobs":${JSON.stringify(logprobs)}`;
    return `${this.#before}${JSON.stringify(delta)}${further},"finish_reason":${JSON.stringify(finish)}}]}\n\n`;
  }
}
