// Whether a call may be made, must not be made, or waits for a person. The first list that names the tool decides: deny, ask, allow. Pure: paths are resolved by a
// function that is handed in.
//
// pinned-rule: a rule with a pin holds only for the definition that it was made for. A person made it for this tool when a call waited, so it goes before `ask`, which
//   may name many.
// tainted-asks: after a run has read what somebody outside may have written, whatever writes or sends waits for a person, unless a rule says otherwise.
// short-paths: a path of an argument that is longer than any system takes fits no rule, and is not looked at. To normalize one of a megabyte, all accents of one letter,
//   would stop the process for hours.
// repeats-ask: a call that equals one with an unknown outcome, or with an effect in an earlier run of the message, waits for a person whatever the rules say.
import type { Approval, ToolMarks, ToolRule } from '../types.ts';
import { canonicalJson } from './canonical.ts';
import { fitsPath, fitsPattern } from './patterns.ts';
import type { ToolSettings } from './settings.ts';

/** A call to decide. */
export interface CallToDecide {
  /** `server/tool`. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly pin: string;
  readonly marks: ToolMarks;
  /** repeats-ask. */
  readonly isRepeat: boolean;
  /** The run has read output of a tool that is not `closedWorld`. */
  readonly isTainted: boolean;
}

/** What the rules say. */
export type Verdict =
  /** `isByPath`: because of where a path of its arguments leads now. */
  { readonly kind: 'allow'; readonly isByPath?: true } | { readonly kind: 'deny' } | { readonly kind: 'ask'; readonly because: Approval['because'] };

/** How paths of `where` are compared. */
export interface Paths {
  readonly home: string;
  /** The path with the links of its existing parents resolved; undefined for one that can't be. */
  real(path: string): Promise<string | undefined>;
}

type Rules = Pick<ToolSettings, 'deny' | 'ask' | 'allow' | 'default' | 'taint'>;

/** The verdict on one call. */
export async function judgeCall(rules: Rules, call: CallToDecide, paths: Paths): Promise<Verdict> {
  const isNamed = (patterns: readonly string[]): boolean => patterns.some((pattern) => fitsPattern(pattern, call.tool));
  if (isNamed(rules.deny)) return { kind: 'deny' };
  if (call.isRepeat) return { kind: 'ask', because: 'repeat' };
  const isAsked = isNamed(rules.ask);
  const isTainted = call.isTainted && rules.taint === 'ask' && !(call.marks.readOnly && call.marks.closedWorld);
  let isAllowed = false;
  for (const given of rules.allow) {
    const rule: ToolRule = typeof given === 'string' ? { tool: given } : given;
    if (isAsked && rule.pin === undefined) continue; // pinned-rule
    if (!(await isFor(rule, call, paths))) continue;
    if (!isTainted || rule.evenTainted === true) return rule.where === undefined ? { kind: 'allow' } : { kind: 'allow', isByPath: true };
    isAllowed = true;
  }
  if (isAllowed) return { kind: 'ask', because: 'tainted' }; // tainted-asks
  if (isAsked) return { kind: 'ask', because: 'rule' };
  return rules.default === 'deny' ? { kind: 'deny' } : { kind: 'ask', because: 'default' };
}

/** Whether a tool may ever be called under these rules: one that is denied is not even offered. */
export function isOffered({ deny, ask, allow, default: otherwise }: Rules, tool: string): boolean {
  const isNamed = (patterns: readonly string[]): boolean => patterns.some((pattern) => fitsPattern(pattern, tool));
  if (isNamed(deny)) return false;
  return otherwise === 'ask' || isNamed(ask) || isNamed(allow.map((rule) => (typeof rule === 'string' ? rule : rule.tool)));
}

async function isFor(rule: ToolRule, call: CallToDecide, paths: Paths): Promise<boolean> {
  if (!fitsPattern(rule.tool, call.tool)) return false;
  if (rule.pin !== undefined && rule.pin !== call.pin) return false; // pinned-rule
  if (rule.arguments !== undefined && canonicalJson(rule.arguments) !== canonicalJson(call.arguments)) return false;
  for (const [name, pattern] of Object.entries(rule.where ?? {})) {
    const value = Object.hasOwn(call.arguments, name) ? call.arguments[name] : undefined;
    if (!(await isWithin(pattern, value, paths))) return false;
  }
  return true;
}

/** short-paths. */
const MAX_PATH = 4096;
/** What hides where a path leads. */
const HIDDEN = /\0|%2e|%2f|%5c/i;

async function isWithin(pattern: string, value: unknown, paths: Paths): Promise<boolean> {
  if (typeof value !== 'string' || value.length > MAX_PATH || !value.startsWith('/') || HIDDEN.test(value)) return false;
  if (isRewritten(value)) return false;
  const real = await paths.real(value);
  const wanted = await realPattern(pattern, paths);
  return real !== undefined && wanted !== undefined && fitsPath(wanted, real);
}

/** Servers take blanks and quotes off the ends of a path, and some read other characters as dots and slashes: `out/.." ` is `out/..` to them. */
function isRewritten(path: string): boolean {
  if (/^[\s"'`]|[\s"'`]$|\p{Cc}|\p{Cf}/u.test(path)) return true;
  return path
    .normalize('NFKC')
    .split(/[/\\]/)
    .some((segment) => /^["'`\s]*\.{1,2}["'`\s]*$/.test(segment));
}

/** The part of a pattern before its first `*` is a path, too. */
async function realPattern(pattern: string, { home, real }: Paths): Promise<string | undefined> {
  const whole = pattern === '~' || pattern.startsWith('~/') ? `${home}${pattern.slice(1)}` : pattern;
  if (!whole.startsWith('/')) return undefined;
  const segments = whole.split('/');
  const first = segments.findIndex((segment) => segment.includes('*'));
  const fixed = first < 0 ? segments : segments.slice(0, first);
  const base = await real(fixed.join('/') === '' ? '/' : fixed.join('/'));
  return base === undefined ? undefined : [base, ...(first < 0 ? [] : segments.slice(first))].join('/');
}
