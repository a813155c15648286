// Words of the playground.
import { count, duration } from '../base/format.ts';

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

/** `34 in, 152 out, 0.7 s to first text, 3.8 s, end_turn`. */
export function answerLine({
  usage,
  firstTextMs,
  durationMs,
  stopReason,
}: {
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | undefined;
  readonly firstTextMs: number | undefined;
  readonly durationMs: number;
  readonly stopReason: string | undefined;
}): string {
  return [
    usage === undefined ? '' : `${count(usage.inputTokens)} in, ${count(usage.outputTokens)} out`,
    firstTextMs === undefined ? '' : `${duration(firstTextMs)} to first text`,
    duration(durationMs),
    stopReason ?? '',
  ]
    .filter((part) => part !== '')
    .join(' · ');
}
