// A canonical answer as a completion. Reasoning has no place in it. Pure: no I/O.
import { toJsonText } from '../../../../core/base/json-text.ts';
import { answerId } from '../shared/answer-id.ts';
import type { AnswerContext, WholeAnswer } from '../shared/dialect.ts';
import { finishReason, usageText } from '../shared/openai-answers.ts';
import type { CompletionEcho } from './request.ts';

/** A completion, whole or as a chunk, up to its choices. */
export function headOf(context: AnswerContext<CompletionEcho>): string {
  return `{"id":"cmpl-${answerId(context)}","object":"text_completion","created":${context.created},"model":${JSON.stringify(context.request.model)},"choices":[`;
}

/** The only choice. `text` is JSON. */
export function choiceOf(text: string, finish: string | null): string {
  return `{"text":${text},"index":0,"logprobs":null,"finish_reason":${JSON.stringify(finish)}}`;
}

/** The body of a whole answer, as JSON. */
export function toCompletion({ pieces, done }: WholeAnswer, context: AnswerContext<CompletionEcho>): string {
  let text = '';
  for (const piece of pieces) if (piece.type === 'text') text += piece.text;
  return `${headOf(context)}${choiceOf(toJsonText(text), finishReason(done.stopReason))}],"usage":${usageText(done.usage)}}`;
}
