import t from 'tap';
import { judgeCall } from '../../../core/tools/policy.ts';
import { ruleOf } from '../../../core/tools/rules.ts';
import { type ToolSettings, toolSettings } from '../../../core/tools/settings.ts';

const settings = (tools: object): ToolSettings => toolSettings({ tools: { servers: ['bank'], ...tools } }) as ToolSettings;
const NONE = { readOnly: false, idempotent: false, closedWorld: false };
const HARMLESS = { readOnly: true, idempotent: false, closedWorld: true };
const TOOL = { tool: 'bank/pay', pin: 'p1', marks: NONE };
const where = { tool: 'bank/*', where: { path: '~/out/**' } };

t.test('a tool has the rule of the first list that names it, and says which pattern it was', async (t) => {
  const rule = (tools: object, tool: object = {}) => ruleOf(settings(tools), { ...TOOL, ...tool });
  t.match(rule({}), { rule: 'ask', by: 'default', allowsSome: false });
  t.match(rule({ default: 'deny' }), { rule: 'deny', by: 'default' });
  t.match(rule({ deny: ['x/*', 'bank/p*'], allow: ['bank/*'] }), { rule: 'deny', by: 'bank/p*' });
  t.match(rule({ ask: ['bank/pay'], allow: ['bank/*'] }), { rule: 'ask', by: 'bank/pay', allowsSome: false });
  t.match(rule({ ask: ['bank/pay'], allow: [{ tool: 'bank/pay', pin: 'p1' }] }), { rule: 'allow', by: 'bank/pay' }, 'made for this tool');
  t.match(rule({ ask: ['bank/pay'], allow: [{ tool: 'bank/pay', pin: 'old' }] }), { rule: 'ask', allowsSome: false }, 'made for another definition');
  t.match(rule({ allow: [where] }), { rule: 'ask', by: 'default', allowsSome: true });
  t.match(rule({ allow: [where, 'bank/*'] }), { rule: 'allow', by: 'bank/*', allowsSome: false });
});

t.test('what a taint changes is said', async (t) => {
  const rule = (tools: object, tool: object = {}) => ruleOf(settings(tools), { ...TOOL, ...tool });
  t.match(rule({ allow: ['bank/*'] }), { rule: 'allow', evenTainted: false, asksTainted: true });
  t.match(rule({ allow: ['bank/*'], taint: 'ignore' }), { asksTainted: false });
  t.match(rule({ allow: ['bank/*'] }, { marks: HARMLESS }), { asksTainted: false });
  t.match(rule({ allow: ['bank/*', { tool: 'bank/pay', evenTainted: true }] }), { by: 'bank/*', evenTainted: true, asksTainted: false });
  t.match(rule({ allow: [{ ...where, evenTainted: true }] }), { rule: 'ask', evenTainted: true, allowsSome: true });
  t.match(rule({}), { asksTainted: false });
});

t.test('as-judged: what is shown is what a call gets', async (t) => {
  const paths = { home: '/home/ada', real: async (path: string) => path };
  const lists = [[], ['bank/pay'], ['bank/*'], ['other/*']];
  const allows = [[], ['bank/*'], [{ tool: 'bank/pay', pin: 'p1' }], [{ tool: 'bank/pay', pin: 'old' }], ['other/*', { tool: 'bank/*', evenTainted: true }]];
  for (const deny of lists)
    for (const ask of lists)
      for (const allow of allows)
        for (const otherwise of ['ask', 'deny'])
          for (const marks of [NONE, HARMLESS]) {
            const rules = settings({ deny, ask, allow, default: otherwise });
            const shown = ruleOf(rules, { ...TOOL, marks });
            const judged = (isTainted: boolean) => judgeCall(rules, { ...TOOL, marks, arguments: {}, isRepeat: false, isTainted }, paths);
            const isWrong = (await judged(false)).kind !== shown.rule || ((await judged(true)).kind === 'ask') !== (shown.rule === 'ask' || shown.asksTainted);
            if (isWrong) t.fail(JSON.stringify({ deny, ask, allow, otherwise, marks, shown }));
          }
  t.pass();
});
