// How a provider's own protocol looks from outside, so that requests and answers can pass as they are. Pure: no I/O.
import { membersOf } from '../../core/base/json-members.ts';
import { isCount } from '../../core/base/tokens.ts';
import type { AnswerFacts, ForwardedRequest, ReportedUsage, ResolvedSettings } from '../../core/index.ts';
import type { ProviderError } from './provider-errors.ts';

/** What one frame of a streamed answer says. */
export interface FrameFacts {
  readonly usage?: ReportedUsage | undefined;
  /** What single choices have used that the frame has: their sum is what the answer has used. */
  readonly ofChoices?: readonly { readonly choice: unknown; readonly usage: ReportedUsage }[] | undefined;
  /** True for the frame that ends a whole answer. */
  readonly isEnd?: boolean | undefined;
  /** True for a frame after which the answer may end without an end mark. */
  readonly mayEnd?: boolean | undefined;
  /** True for a text that is only the beginning of a frame. */
  readonly isCut?: boolean | undefined;
  /** Set for a frame that ends a broken one. */
  readonly error?: ProviderError | undefined;
  /** True for a frame that has the usage and nothing else. */
  readonly isUsageOnly?: boolean | undefined;
  /** What it says of the answer. */
  readonly answer?: AnswerFacts | undefined;
}

/** The members of a record that matter: whole, or only those of these names in them. */
export type Wanted = Readonly<Record<string, 'whole' | readonly string[]>>;

/** A protocol that clients speak too. Its streams are server-sent events. */
export interface Protocol {
  /** Where clients find it, such as `/v1/messages`. */
  readonly path: string;
  url(settings: ResolvedSettings, search: string): URL;
  /** The client's headers that are sent on, in lower case. */
  readonly requestHeaders: readonly string[];
  /** False for a value of one of them that is not sent on; all are, if it is absent. */
  passesHeader?(name: string, value: string): boolean;
  /** The names of the provider's headers that the client gets. */
  readonly answerHeaders: RegExp;
  /** A frame without any of these texts, and without any of `members`, says nothing that matters here, so it is not read. */
  readonly marks: readonly string[];
  /** What each frame has in which a model has written, unless it is named by an `event:` line. */
  readonly ofModel: string;
  /** Names of members, at any depth, that matter unless they are null. */
  readonly members?: readonly string[];
  /** What `readFrame` reads of a frame, for a protocol whose frames may repeat the whole request and its answer. */
  readonly frameMembers?: Wanted;
  /** `event` is the name of the frame; '' if it has none. */
  readFrame(data: string, event?: string): FrameFacts;
  /** What all choices have used together. */
  sumOfChoices?(usages: Iterable<ReportedUsage>): ReportedUsage;
  /** The top-level members of a whole answer that `readUsage` and `errorIn` need. */
  readonly answerMembers: readonly string[];
  /** The top-level member of a whole answer that has what the model wrote. */
  readonly writtenMember: string;
  /** From those members of a whole answer. One that the answer does not have, or that is no JSON, is absent. */
  readUsage(answer: Readonly<Record<string, unknown>>): ReportedUsage;
  /** What a whole answer says of itself, from the same members. */
  readFacts?(answer: Readonly<Record<string, unknown>>): AnswerFacts | undefined;
  /** The error of a body that came with status 200 and is no answer: compatible services send such. From the same members. */
  errorIn?(answer: Readonly<Record<string, unknown>>): ProviderError | undefined;
  /** True for a whole answer that reports a failure, or has nothing of an answer. It goes out as one all the same, but without secrets. From the same members. */
  tellsFailure(answer: Readonly<Record<string, unknown>>): boolean;
}

/** What every protocol sends on: how the client wants its answer, and what makes a repeated request harmless. The type does not go on: it could name an
 * encoding in which the body says something else. */
export const REQUEST_HEADERS = ['accept', 'idempotency-key'] as const;
/** The name of headers that tell a client when to try again and what to quote in a complaint. */
export const ANSWER_HEADERS = /^(?:retry-after(?:-ms)?|(?:x-)?request-id|x-should-retry|x-ratelimit-.+)$/;

/** The largest of the limits in these fields of a request; undefined if it has none. Some servers take a 0 for no limit. */
export function limitIn(fields: ForwardedRequest['fields'], ...names: readonly string[]): number | undefined {
  const limits = names.map((name) => fields?.[name]).filter((limit) => isCount(limit) && limit > 0) as number[];
  return limits.length === 0 ? undefined : Math.max(...limits);
}

/** A text of some length, or a call. */
const WRITTEN = /"(?:text|content|thinking|reasoning|reasoning_content|reasoning_text|summary|refusal|transcript|data|name|arguments|input)"\s*:\s*"[^"]/;

/**
 * What a whole answer says that it has used. No text has 0 tokens: if the answer has some and says so, its output is left to the estimate, and so is its input if that
 * is said to be 0 as well (not-counted, core/gateway/accumulate.ts). `members` are its `answerMembers`.
 */
export function usageOfWhole({ readUsage, writtenMember }: Protocol, answer: Buffer, members: Readonly<Record<string, unknown>>): ReportedUsage {
  const usage = readUsage(members);
  if (usage.outputTokens !== 0) return usage;
  const isWritten = membersOf(answer, [writtenMember])?.some(({ start, end }) => WRITTEN.test(answer.toString('latin1', start, end)));
  return isWritten === true ? { ...usage, inputTokens: usage.inputTokens === 0 ? undefined : usage.inputTokens, outputTokens: undefined } : usage;
}
