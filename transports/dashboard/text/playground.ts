// Words of the playground.
import { count, duration, usd } from '../base/format.ts';

export const playText = {
  title: 'Playground',
  lead: 'Ask several models the same. Nothing is stored on the server.',
  models: 'Models',
  addModel: 'Add a model',
  removeModel: 'Remove this model',
  modelHint: 'provider/model',
  system: 'Instructions',
  message: 'Message',
  settings: 'Settings',
  maxTokens: 'Longest answer, in tokens',
  temperature: 'Temperature',
  tools: 'Tools, as a JSON list',
  schema: 'Schema of the answer, as JSON',
  ask: 'Ask',
  stop: 'Stop',
  curl: 'Copy as curl',
  empty: 'The answers appear here, side by side.',
  thought: 'Reasoning',
  toolWants: 'wants a tool',
  result: 'Result of the tool',
  goOn: 'Go on with these results',
  needMessage: 'Write a message first.',
} as const;

function costText(costUsd: number | null): string {
  return costUsd === null ? 'not priced' : usd(costUsd);
}

/** `ollama/gemma4`, `34 in, 152 out`, `$0.02`, `0.7 s to first text`, `3.8 s`, `end_turn`. The model stands there if another name was asked. */
export function answerFacts({
  model,
  answeredBy = model,
  usage,
  costUsd,
  firstTextMs,
  durationMs,
  stopReason,
}: {
  readonly model: string;
  readonly answeredBy: string | undefined;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly estimated?: boolean } | undefined;
  readonly costUsd: number | null | undefined;
  readonly firstTextMs: number | undefined;
  readonly durationMs: number;
  readonly stopReason: string | undefined;
}): readonly string[] {
  return [
    answeredBy === model ? '' : answeredBy,
    usage === undefined ? '' : `${count(usage.inputTokens)} in, ${count(usage.outputTokens)} out`,
    usage?.estimated === true ? 'estimated' : '',
    costUsd === undefined ? '' : costText(costUsd),
    firstTextMs === undefined ? '' : `${duration(firstTextMs)} to first text`,
    duration(durationMs),
    stopReason ?? '',
  ].filter((part) => part !== '');
}
