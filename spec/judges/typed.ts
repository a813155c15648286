// The published types of the official SDKs as a judge: answers become literals of a program, and the compiler says what is missing, wrong or too much.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Test } from 'tap';
import { tscPath } from '../support/api-report.ts';
import { testFolder } from '../support/test-folder.ts';

const MODULES = resolve(import.meta.dirname, '../../node_modules');
const TYPES = {
  'openai/resources/chat/completions': ['ChatCompletion', 'ChatCompletionChunk'],
  'openai/resources/responses/responses': ['Response', 'ResponseStreamEvent'],
  'openai/resources/embeddings': ['CreateEmbeddingResponse'],
  'openai/resources/models': ['Model'],
  'openai/resources/shared': ['ErrorObject'],
  '@anthropic-ai/sdk/resources/shared': ['ErrorResponse'],
  '@anthropic-ai/sdk/resources/messages': ['Message', 'RawMessageStreamEvent', 'TextBlock', 'MessageTokensCount'],
} as const;

/** What we add on purpose: other servers of this protocol have the same fields, and their clients read them. */
// The official client throws only for an event 'error' that has an object of this name.
const ADDED = `declare module '${join(MODULES, 'openai/resources/chat/completions/completions.js')}' {
  interface ChatCompletionMessageFunctionToolCall { extra_content?: { google: object } }
  interface ChatCompletionMessage { reasoning_content?: string }
  namespace ChatCompletionChunk { namespace Choice {
    interface Delta { reasoning_content?: string }
    namespace Delta { interface ToolCall { extra_content?: { google: object } } }
  } }
}`;

/**
 * Where our answers and the SDK's types differ on purpose. Open Responses demands more fields, and some of them without null; its codes of errors are
 * free. In Messages, a text without citations has no such field, as from Anthropic itself: readers in use refuse null there. 413 has its documented type,
 * which the SDK lacks.
 */
const OURS = `interface OpenResponse extends Omit<Response, 'usage' | 'instructions' | 'user' | 'error'> {
  user: string | null; error: { code: string; message: string } | null;
  completed_at: number | null; previous_response_id: string | null; reasoning: NonNullable<Response['reasoning']> | null;
  usage: NonNullable<Response['usage']> | null; max_output_tokens: number | null; max_tool_calls: number | null; status: NonNullable<Response['status']>;
  safety_identifier: string | null; prompt_cache_key: string | null; truncation: 'auto' | 'disabled'; text: NonNullable<Response['text']>;
  top_p: number; temperature: number; presence_penalty: number; frequency_penalty: number; top_logprobs: number;
  store: boolean; background: boolean; service_tier: NonNullable<Response['service_tier']>; instructions: string | null; model: string;
}
type With<E> = E extends { type: 'error' } ? E & { error: object } : E extends { response: Response } ? Omit<E, 'response'> & { response: OpenResponse } : E;
type OpenResponseEvent = With<ResponseStreamEvent>;
type Block<B> = B extends TextBlock ? Omit<B, 'citations'> : B;
type AnyMessage = Omit<Message, 'content'> & { content: Block<Message['content'][number]>[] };
type OurBlocks<E> = E extends { message: Message } ? Omit<E, 'message'> & { message: AnyMessage }
  : E extends { content_block: unknown } ? Omit<E, 'content_block'> & { content_block: Block<Message['content'][number]> } : E;
type MessageEvent = OurBlocks<RawMessageStreamEvent>;
interface TooLarge { type: 'request_too_large'; message: string }
interface FailureEvent { type: 'error'; error: ErrorResponse['error'] | TooLarge }
type Failure = Omit<ErrorResponse, 'error'> & FailureEvent;
interface ErrorBody { error: ErrorObject }
interface ModelList { object: 'list'; data: Model[] }`;

/** An answer and the type that it has to be of; `title` says in a failure which one it is. */
export interface TypedAnswer {
  readonly title: string;
  readonly type: string;
  readonly value: unknown;
}

/** The complaints of the compiler, one for each answer that isn't of its type. */
export async function complaints(t: Test, answers: readonly TypedAnswer[]): Promise<string[]> {
  const imports = Object.entries(TYPES).map(([from, names]) => importOf(from, names));
  const head = [...imports, ...`${ADDED}\n${OURS}`.split('\n')];
  const lines = answers.map(({ type, value }, index) => `export const answer${index}: ${type} = ${JSON.stringify(value)};`);
  const found = await complaintsAbout(t, [...head, ...lines]);
  return found.map(({ line, text }) => `${answers[line - head.length - 1]?.title ?? 'the program itself'}: ${text}`);
}

/** A line that imports types of an installed package. */
export function importOf(from: string, names: readonly string[]): string {
  return `import type { ${names.join(', ')} } from '${join(MODULES, from)}.js';`;
}

/** The complaints of the compiler about a program, each with the number of its line, from 1. */
export async function complaintsAbout(t: Test, lines: readonly string[]): Promise<{ readonly line: number; readonly text: string }[]> {
  const folder = testFolder(t);
  writeFileSync(join(folder, 'program.ts'), lines.join('\n'));
  const options = { strict: true, noEmit: true, skipLibCheck: true, types: [], target: 'es2022', module: 'nodenext', lib: ['es2022', 'dom'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...options, noErrorTruncation: true }, include: ['program.ts'] }));
  const output = await new Promise<string>((done) => {
    execFile(process.execPath, [tscPath(), '-p', folder, '--pretty', 'false', '--checkers', '1'], { maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) =>
      done(stdout + stderr),
    );
  });
  return output
    .split(/\n(?=\S)/)
    .filter((text) => text.trim() !== '')
    .map((text) => ({ line: Number(/program\.ts\((\d+),/.exec(text)?.[1] ?? 0), text: text.slice(text.indexOf('error')).trim() }));
}
