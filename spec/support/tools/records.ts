// Records of journals, as they are written.
import type { Approval, RunRecord } from '../../../core/types.ts';

export const AT = '2026-11-28T12:00:00.000Z';
const LIMITS = { steps: 25, calls: 50, seconds: 900, tokens: null, usd: null, parallel: 4, resultTokens: 8000, definitionTokens: 10_000, sameCall: 3 };
const TOOLS = ['pay', 'list', 'set_limit', 'pay_once', 'long', 'fail'].map((tool) => `bank/${tool}#pin-of-${tool}`);

export const runRecord = (limits: object = {}): RunRecord => ({ t: 'run', run: 1, at: AT, cause: 'message', tools: TOOLS, limits: { ...LIMITS, ...limits } });
export const modelRecord = (step: number): RunRecord => ({ t: 'model', step, at: AT, provider: 'ollama', model: 'm', tokens: 10 });
export const answerRecord = (step: number, calls: readonly { readonly name: string; readonly arguments: object }[]): RunRecord => ({
  t: 'answer',
  step,
  at: AT,
  text: '',
  calls: calls.map(({ name, arguments: args }, index) => ({
    n: index + 1,
    id: `call_${step}_${index + 1}`,
    tool: name.replace('__', '/'),
    name,
    arguments: args as Record<string, unknown>,
  })),
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  costUsd: 0,
  latencyMs: 5,
  ttftMs: 1,
  stopReason: 'tool_use',
});
export const callRecord = (call: string, tool = 'pay', tries = 1): RunRecord => ({ t: 'call', call, at: AT, try: tries, pin: `pin-of-${tool}` });
export const resultRecord = (call: string, more: object = {}): RunRecord => ({ t: 'result', call, at: AT, ms: 3, isError: false, text: 'Paid.', ...more });
export const approvalOf = (id: string, more: Partial<Approval> = {}): Approval => ({
  id,
  block: 'ada',
  messageId: 'm1',
  call: '1.1',
  kind: 'call',
  tool: 'bank/pay',
  arguments: {},
  digest: 'd',
  because: 'rule',
  marks: { readOnly: false, idempotent: false, closedWorld: true },
  readBefore: [],
  createdAt: AT,
  expiresAt: '2999-01-01T00:00:00.000Z',
  ...more,
});
