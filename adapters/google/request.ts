// A prompt as a generateContent request. Pure: no I/O.
//
// Gemini refuses empty parts, except a text part with a signature. A call and its response both carry Gemini's own id, or neither carries one.
// A signature goes back only to the model that made it; other models get the documented sentinel.
//
// responses-alone: The responses to a step's calls are a content of their own. With anything beside them Gemini takes the content for the model's, and answers
//   400 (`Requests ending with a model turn are not supported`). Source: agenthub pull request 189 and dive pull request 287, measured with Gemini 3.7 and 3.8.
import type { AssistantTurn, ContentPart, Prompt, PromptToolResult, Tool, ToolCall, Warning } from '../../core/index.ts';
import { joinURL } from '../shared/base-url.ts';
import { type MergedTurn, mergeTurns, textsAndCalls } from '../shared/merge-turns.ts';
import type { ChatContext, TokenQuestion, WireRequest } from '../shared/provider.ts';
import { asString, metadataOf } from '../shared/read.ts';
import { objectSchema } from '../shared/tools.ts';
import { given, REASONING_OF_ANOTHER } from '../shared/turn-state.ts';
import { inlineData, toGoogleParts } from './content.ts';
import { hasFixedSampling, isGemini3, isGemini4, takesBudget } from './models.ts';
import { generationOptions, ignored, toolConfig } from './options.ts';
import type { GoogleContent, GoogleFunctionDeclaration, GooglePart, GoogleRequest } from './schema.ts';
import { cleanSchema } from './json-schema.ts';

/** People paste base URLs with the version, or with the OpenAI-compatible address below it. */
export const VERSION_SUFFIX = /\/v1(?:alpha|beta)?(?:\/openai)?$/;

/** Google's documented escape for calls that no Gemini of this kind made. */
const SENTINEL = 'skip_thought_signature_validator';
/** The most tokens of an answer. */
const MOST_TOKENS = { ofWholeGemini4: 32_768, ofOthers: 65_536 };

/** The id without the `models/` that Google's own lists put before it. */
export function bareModel(model: string): string {
  return model.replace(/^models\//, '');
}

/** A POST to `models/{id}:generateContent`, or to `streamGenerateContent?alt=sse` for a stream. */
export function buildRequest({ model, prompt, settings, stream }: ChatContext): WireRequest {
  const id = bareModel(model);
  const { turns, warnings } = mergeTurns(prompt.turns);
  const declared = declareTools(prompt.tools);
  const generation = generationConfig(id, prompt, stream);
  const takesSystem = !id.startsWith('gemma');
  const body: GoogleRequest = {
    ...(prompt.system !== undefined && takesSystem && { systemInstruction: { parts: [{ text: prompt.system }] } }),
    contents: toContents(turns, id, takesSystem ? undefined : prompt.system),
    ...(declared.tools.length > 0 && {
      tools: [{ functionDeclarations: declared.tools }],
      toolConfig: toolConfig(prompt.options?.toolChoice),
    }),
    generationConfig: generation.config,
  };
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return {
    url: joinURL(settings.values['baseURL'] ?? '', `/v1beta/${modelPath(id)}:${method}`, VERSION_SUFFIX),
    body,
    stream,
    warnings: [
      ...warnings,
      ...declared.warnings,
      ...generation.warnings,
      ...cacheWarnings(prompt),
      ...(hasForeignSignature(turns, id) ? [REASONING_OF_ANOTHER] : []),
    ],
  };
}

/** A POST to `models/{id}:countTokens`. */
export function tokenQuestion(context: ChatContext): TokenQuestion {
  const { url, body } = buildRequest({ ...context, stream: false });
  const { generationConfig: _counted, ...request } = body as GoogleRequest;
  return {
    url: new URL(url.href.replace(/:generateContent$/, ':countTokens')),
    body: { generateContentRequest: { model: decodeURIComponent(modelPath(bareModel(context.model))), ...request } },
    countIn: (answer) => answer['totalTokens'],
  };
}

/** Encoded, so that no id can name another method or add a query. */
export function modelPath(id: string): string {
  const tuned = isTuned(id);
  return `${tuned ? 'tunedModels' : 'models'}/${encodeURIComponent(tuned ? id.slice('tunedModels/'.length) : id)}`;
}

/** True for a model that a customer has tuned. */
export function isTuned(id: string): boolean {
  return id.startsWith('tunedModels/');
}

function toContents(turns: readonly MergedTurn[], model: string, systemText: string | undefined): GoogleContent[] {
  let ids: ReadonlyMap<string, string> = new Map();
  return turns.flatMap((turn, index): GoogleContent[] => {
    if (turn.role === 'assistant') {
      ids = geminiIds(turn.turns);
      return [{ role: 'model', parts: turn.turns.flatMap((part) => modelParts(part, model)) }];
    }
    const own = turn.turns.flatMap(({ text, parts }) => (parts === undefined ? [{ text }] : toGoogleParts(parts)));
    const beside = turn.results.flatMap((result) => partsBeside(result, model));
    const lists = [turn.results.map((result) => responsePart(result, ids, model)), withSystem([...beside, ...own], index === 0 ? systemText : undefined)];
    return lists.flatMap((parts) => (parts.length === 0 ? [] : [{ role: 'user', parts }])); // responses-alone
  });
}

/** The instructions in front of the user's first text, for models without instructions. */
function withSystem(parts: GooglePart[], systemText: string | undefined): GooglePart[] {
  if (systemText === undefined) return parts;
  const [first, ...others] = parts;
  return first !== undefined && 'text' in first ? [{ text: `${systemText}\n\n${first.text}` }, ...others] : [{ text: `${systemText}\n\n` }, ...parts];
}

/** Gemini's ids for a step's calls, by our ids. */
function geminiIds(turns: readonly AssistantTurn[]): Map<string, string> {
  const calls = turns.flatMap((turn) => turn.toolCalls);
  return new Map(
    calls.flatMap((call) => {
      const id = geminiId(call);
      return id === undefined ? [] : [[call.id, id] as const];
    }),
  );
}

function geminiId(call: ToolCall): string | undefined {
  return asString(metadataOf(call, 'google')?.['id']);
}

function modelParts(turn: AssistantTurn, model: string): GooglePart[] {
  const said = textsAndCalls(turn);
  const parts = said.map((one): GooglePart => (typeof one === 'string' ? { text: one } : callPart(one, one === turn.toolCalls[0], model)));
  const thoughtSignature = signatureOf(turn, model);
  if (thoughtSignature === undefined) return parts;
  // Gemini signs the end of what it writes.
  const at = said.findLastIndex((one) => typeof one === 'string');
  return at < 0 ? [{ text: '', thoughtSignature }, ...parts] : parts.with(at, { text: said[at] as string, thoughtSignature });
}

function callPart(call: ToolCall, isFirst: boolean, model: string): GooglePart {
  const id = geminiId(call);
  const thoughtSignature = signatureOf(call, model) ?? (isFirst && isGemini3(model) ? SENTINEL : undefined);
  return {
    functionCall: { ...(id !== undefined && { id }), name: call.name, args: call.arguments },
    ...(thoughtSignature !== undefined && { thoughtSignature }),
  };
}

/** The signature, if `model` is the one that made it. Without a model it comes from Google's own endpoint for OpenAI's clients, or through one that keeps nothing else. */
function signatureOf(holder: AssistantTurn | ToolCall, model: string): string | undefined {
  const metadata = metadataOf(holder, 'google');
  return (metadata?.['model'] ?? model) === model ? signatureIn(metadata) : undefined;
}

/** `thoughtSignature` is the name that earlier versions gave it. */
function signatureIn(metadata: Record<string, unknown> | undefined): string | undefined {
  return asString(metadata?.['thought_signature']) ?? asString(metadata?.['thoughtSignature']) ?? asString(metadata?.['textSignature']);
}

/** See `Adapter.replayed`. The id of a call stands in its result, too. */
export function replayed(model: string, turn: AssistantTurn): unknown {
  const id = bareModel(model);
  const ids = turn.toolCalls.map(geminiId);
  return given([...ids, ...ids, ...[turn, ...turn.toolCalls].map((holder) => signatureOf(holder, id))]);
}

/** True if `model` did not make every signature, so that some are not sent. */
function hasForeignSignature(turns: readonly MergedTurn[], model: string): boolean {
  const isForeign = (holder: AssistantTurn | ToolCall): boolean => {
    const metadata = metadataOf(holder, 'google');
    return signatureIn(metadata) !== undefined && signatureOf(holder, model) === undefined;
  };
  return turns.some((turn) => turn.role === 'assistant' && turn.turns.some((part) => isForeign(part) || part.toolCalls.some(isForeign)));
}

function responsePart(result: PromptToolResult, ids: ReadonlyMap<string, string>, model: string): GooglePart {
  const id = ids.get(result.toolCallId);
  const response = result.isError ? { error: result.content } : { output: result.content };
  const images = (result.parts ?? []).filter((part) => isInside(part, model)).map(inlineData);
  return { functionResponse: { ...(id !== undefined && { id }), name: result.toolName, response, ...(images.length > 0 && { parts: images }) } };
}

/** Files of a result that the response has no place for; a name of a file would be lost there. */
function partsBeside(result: PromptToolResult, model: string): GooglePart[] {
  const files = result.parts?.filter((part) => part.type !== 'text' && !isInside(part, model)) ?? [];
  return files.length === 0 ? [] : [{ text: `Result of ${result.toolName}:` }, ...toGoogleParts(files)];
}

function isInside({ type, data }: ContentPart, model: string): boolean {
  return type === 'image' && data !== undefined && isGemini3(model);
}

function declareTools(tools: readonly Tool[]): { tools: GoogleFunctionDeclaration[]; warnings: Warning[] } {
  const warnings: Warning[] = [];
  const declared = tools.map(({ name, description, parameters }, index) => {
    const head = { name, ...(description !== undefined && { description }) };
    if (parameters === undefined) return head;
    const { schema, dropped } = cleanSchema(parameters);
    if (dropped.length > 0)
      warnings.push({
        field: `tools[${index}].parameters`,
        message: `Gemini does not support these schema keywords, so they were not sent: ${dropped.join(', ')}.`,
      });
    return { ...head, parametersJsonSchema: objectSchema(schema) };
  });
  return { tools: declared, warnings };
}

function generationConfig(model: string, prompt: Prompt, stream: boolean): { config: GoogleRequest['generationConfig']; warnings: Warning[] } {
  const { temperature } = prompt;
  const { fields, warnings } = generationOptions(model, prompt.options);
  const asked = prompt.maxTokens ?? prompt.defaultMaxTokens;
  const most = mostTokens(model, stream);
  if (asked !== undefined && asked > most) {
    const message = `${model} allows at most ${most} tokens ${stream ? 'with streaming' : 'without streaming'}, so ${most} was sent.`;
    warnings.push({ field: 'config.maxTokens', message });
  }
  const takesTemperature = temperature !== undefined && !hasFixedSampling(model);
  if (temperature !== undefined && !takesTemperature) warnings.push(ignored(model, 'temperature'));
  return {
    config: { ...limitOf(asked === undefined ? undefined : Math.min(asked, most)), ...(takesTemperature && { temperature }), ...fields },
    warnings,
  };
}

/** A larger limit is a 400. */
function mostTokens(model: string, stream: boolean): number {
  if (!isGemini3(model) && !takesBudget(model)) return Number.POSITIVE_INFINITY;
  return isGemini4(model) && !stream ? MOST_TOKENS.ofWholeGemini4 : MOST_TOKENS.ofOthers;
}

function limitOf(maxOutputTokens: number | undefined): { maxOutputTokens?: number } {
  return maxOutputTokens === undefined ? {} : { maxOutputTokens };
}

function cacheWarnings(prompt: Prompt): Warning[] {
  return prompt.cacheControl ? [{ field: 'config.cacheControl', message: 'Gemini caches long prompts automatically, so this setting has no effect.' }] : [];
}
