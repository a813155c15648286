// The turns of a conversation as adapters get them. Pure: types only.
import type { ContentPart, ToolCall } from '../types.ts';

/** The result of one tool call. */
export interface PromptToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: string;
  /** Set if the content is more than text; `content` is then the text in it. */
  readonly parts?: readonly ContentPart[] | undefined;
  readonly isError: boolean;
}

/** What an assistant says, or a tool that it calls. */
export type TurnPiece = { readonly part: ContentPart } | { readonly call: ToolCall };

/** What the assistant has said, and the tools that it has called. */
export interface AssistantTurn {
  readonly role: 'assistant';
  readonly text: string;
  readonly parts?: readonly ContentPart[] | undefined;
  readonly toolCalls: readonly ToolCall[];
  /** Set if a text comes after a call: everything in its order. Else all texts come before all calls. */
  readonly order?: readonly TurnPiece[] | undefined;
  readonly providerMetadata?: Record<string, unknown> | undefined;
}

/** One turn of the conversation. */
export type Turn =
  | {
      readonly role: 'user';
      readonly text: string;
      /** Set if the content is more than text; `text` is then the text in it. */
      readonly parts?: readonly ContentPart[] | undefined;
    }
  | AssistantTurn
  | { readonly role: 'tool'; readonly results: readonly PromptToolResult[] };
