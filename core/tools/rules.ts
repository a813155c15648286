// What the rules of a block say of a tool, whatever its arguments are. Pure: no I/O.
//
// as-judged: the lists have the same order as in policy.ts, which judges each call.
import type { ToolMarks, ToolRule } from '../types.ts';
import { fitsPattern } from './patterns.ts';
import type { ToolSettings } from './settings.ts';

/** A tool to look at. */
export interface RuledTool {
  /** `server/tool`. */
  readonly tool: string;
  readonly pin: string;
  readonly marks: ToolMarks;
}

/** What holds for it. */
export interface RuleOfTool {
  readonly rule: 'allow' | 'ask' | 'deny';
  /** The pattern that says so, or `default`. */
  readonly by: string;
  /** Calls with some arguments are allowed, which the rule does not say. */
  readonly allowsSome: boolean;
  readonly evenTainted: boolean;
  /** It is allowed, and waits for a person in a tainted run. */
  readonly asksTainted: boolean;
}

/** as-judged. */
export function ruleOf(rules: Pick<ToolSettings, 'deny' | 'ask' | 'allow' | 'default' | 'taint'>, { tool, pin, marks }: RuledTool): RuleOfTool {
  const named = (patterns: readonly string[]): string | undefined => patterns.find((pattern) => fitsPattern(pattern, tool));
  const plain = { allowsSome: false, evenTainted: false, asksTainted: false };
  const denied = named(rules.deny);
  if (denied !== undefined) return { rule: 'deny', by: denied, ...plain };
  const asked = named(rules.ask);
  const allowing = rules.allow
    .map((given): ToolRule => (typeof given === 'string' ? { tool: given } : given))
    .filter((rule) => fitsPattern(rule.tool, tool) && (rule.pin === undefined ? asked === undefined : rule.pin === pin));
  const whole = allowing.filter((rule) => rule.where === undefined && rule.arguments === undefined);
  const [first] = whole;
  const allowsSome = whole.length < allowing.length && first === undefined;
  const evenTainted = (first === undefined ? allowing : whole).some((rule) => rule.evenTainted === true);
  const isHarmless = marks.readOnly && marks.closedWorld;
  if (first !== undefined) return { rule: 'allow', by: first.tool, allowsSome, evenTainted, asksTainted: rules.taint === 'ask' && !evenTainted && !isHarmless };
  return { ...plain, rule: asked === undefined ? rules.default : 'ask', by: asked ?? 'default', allowsSome, evenTainted };
}
