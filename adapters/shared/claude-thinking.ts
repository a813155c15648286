// How each Claude is asked to think more or less, for every provider that serves them. Pure: no I/O.
// Source: Anthropic's model pages and @anthropic-ai/sdk `ThinkingConfig…`, November 2026.
import type { Prompt, PromptOptions, Warning } from '../../core/index.ts';

type Reasoning = NonNullable<PromptOptions['reasoning']>;
type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** The fields of a request, in Anthropic's words. */
export interface ClaudeThinking {
  readonly thinking?:
    | { type: 'adaptive'; display?: 'summarized' | 'omitted' }
    | { type: 'enabled'; budget_tokens: number }
    | { type: 'disabled' | 'between_tools' };
  readonly effort?: Effort;
  readonly warnings: readonly Warning[];
}

const FIELD = 'config.reasoning';
/** Models from before thinking. */
const NEVER = /claude-(?:2|instant|3-(?!7)|3-5)/;
/** Models with a budget of tokens instead of an effort. */
const BUDGET = /claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[015](?!\d)|-2025|@|$|-v))/;
/** Models that don't think unless they are asked to. */
const OFF_BY_DEFAULT = /claude-(?:opus-4-[678]|sonnet-4-6)(?!\d)/;
/** Models whose thinking can be switched off. */
const CAN_STOP = /claude-(?:haiku-5-5|opus-5(?!-\d(?!\d))|sonnet-5(?!-\d(?!\d)))/;
/** The one model that can think between its tool calls only. */
const BETWEEN_TOOLS = /claude-sonnet-5-5/;
const WITHOUT_XHIGH = /claude-(?:opus|sonnet)-4-6/;
/** Models that answer 400 to a forced tool choice. */
const CHOOSES_ITSELF = /claude-(?:opus-5-5|sonnet-5-5|fable-|mythos-)/;

const BUDGETS = { none: 0, minimal: 1024, low: 2048, medium: 8192, high: 24_576, xhigh: 24_576, max: 24_576 } as const;
/** Claude refuses a smaller one. */
const SMALLEST_BUDGET = 1024;

/** True for a model that can be made to call a tool. */
export function takesForcedTool(model: string): boolean {
  return !CHOOSES_ITSELF.test(model);
}

/** True if thinking is switched on by these fields, on a model that refuses sampling settings and a forced tool beside it. */
export function thinksOnRequest({ thinking }: ClaudeThinking): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive';
}

/** What a request must have for `reasoning`. `maxTokens` counts the thinking too, so a budget stays below it; without one the caller adds the budget. */
export function claudeThinking(model: string, reasoning: Reasoning, maxTokens: number | undefined): ClaudeThinking {
  if (NEVER.test(model)) return left(`${model} does not think, so it was not sent.`);
  if (BUDGET.test(model)) return withBudget(model, reasoning, maxTokens);
  const { effort, budgetTokens } = reasoning;
  if (effort === 'none' || (effort === undefined && budgetTokens === 0)) return switchedOff(model);
  return adaptive(model, reasoning);
}

function left(message: string, field = FIELD): ClaudeThinking {
  return { warnings: [{ field, message }] };
}

function withBudget(model: string, { effort, budgetTokens }: Reasoning, maxTokens = Number.POSITIVE_INFINITY): ClaudeThinking {
  const asked = budgetTokens ?? (effort === undefined ? 0 : BUDGETS[effort]);
  if (asked === 0) return { warnings: [] };
  // An effort leaves at least half for the answer.
  const most = budgetTokens === undefined ? Math.floor(maxTokens / 2) : maxTokens - 1;
  const budget = Math.max(SMALLEST_BUDGET, Math.min(asked, most));
  if (budget >= maxTokens) return left(`${model} needs a maxTokens of more than ${SMALLEST_BUDGET} to think, so it was not sent.`);
  const changed = budgetTokens !== undefined && budget !== budgetTokens;
  return {
    thinking: { type: 'enabled', budget_tokens: budget },
    warnings: changed
      ? [{ field: `${FIELD}.budgetTokens`, message: `It must be at least ${SMALLEST_BUDGET} and below maxTokens, so ${budget} was sent.` }]
      : [],
  };
}

function switchedOff(model: string): ClaudeThinking {
  if (OFF_BY_DEFAULT.test(model)) return { warnings: [] };
  if (BETWEEN_TOOLS.test(model)) {
    return { thinking: { type: 'between_tools' }, ...left(`${model} can't stop thinking; it was asked to think between tool calls only.`, `${FIELD}.effort`) };
  }
  if (CAN_STOP.test(model)) return { thinking: { type: 'disabled' }, warnings: [] };
  return left(`${model} can't stop thinking, so it was not sent.`, `${FIELD}.effort`);
}

function adaptive(model: string, { effort, budgetTokens, summary }: Reasoning): ClaudeThinking {
  const warnings: Warning[] = [];
  const sent = effort === undefined || effort === 'none' ? undefined : nearest(model, effort);
  if (budgetTokens !== undefined) warnings.push({ field: `${FIELD}.budgetTokens`, message: `${model} takes an effort and no budget, so it was not sent.` });
  if (sent !== effort && sent !== undefined) warnings.push({ field: `${FIELD}.effort`, message: `${model} does not support ${effort}, so ${sent} was sent.` });
  const starts = OFF_BY_DEFAULT.test(model) && (sent !== undefined || budgetTokens !== undefined);
  const shows = summary !== undefined && (starts || !OFF_BY_DEFAULT.test(model));
  return {
    ...((starts || shows) && { thinking: { type: 'adaptive', ...(shows && { display: summary ? 'summarized' : 'omitted' }) } }),
    ...(sent !== undefined && { effort: sent }),
    warnings,
  };
}

function nearest(model: string, effort: Exclude<NonNullable<Reasoning['effort']>, 'none'>): Effort {
  if (effort === 'minimal') return 'low';
  return effort === 'xhigh' && WITHOUT_XHIGH.test(model) ? 'high' : effort;
}

/** The instruction for Claude in place of a JSON mode, which it has only with a schema. */
const JSON_ONLY = 'Answer with one JSON object and nothing else: no other text, no code fence.';

/** The texts of the system: the caller's parts as they are, then what a JSON mode is replaced by. */
export function systemTexts({ system, systemParts, options }: Prompt): string[] {
  const own = systemParts?.map(({ text }) => text) ?? (system === undefined ? [] : [system]);
  return options?.output?.type === 'json' ? [...own, JSON_ONLY] : own;
}
