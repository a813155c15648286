import t from 'tap';
import { skillDiff, skillLines, skillName, skillTable } from '../../../cli/views/skill-text.ts';
import type { SkillView } from '../../../core/index.ts';
import { styleFor } from '../../../cli/terminal/output.ts';

const SKILL: SkillView = {
  owner: 'ada',
  name: 'invoice',
  description: 'How.\u200b',
  hash: 'a'.repeat(64),
  state: 'new',
  tokens: 12,
  files: ['SKILL.md'],
  now: { 'SKILL.md': '---\n\u202ename: invoice\n---\n  Text. \nNext\u00a0one.\n' },
};

t.test('a table has each skill as commands take it', async (t) => {
  const problem = 'skills/x/SKILL.md, line 1: there is no front matter';
  const rows = skillTable([SKILL, { ...SKILL, owner: '_', state: 'unusable', problem }], { width: 120, style: styleFor(false) });
  t.match(rows, [
    /^SKILL +STATE +FILES +TOKENS +DESCRIPTION/,
    /^ada\/invoice +new +1 +12 +How\.\\u200b/,
    /^invoice +unusable .*line 1: there is no front matter/,
  ]);
  t.strictSame([skillName(SKILL), skillName({ owner: '_', name: 'a' })], ['ada/invoice', 'a']);
});

t.test('before an approval a person sees every file, and nothing hides', async (t) => {
  t.strictSame(skillLines(SKILL), [
    'ada/invoice (new): models of blocks that have it read',
    '',
    '  SKILL.md',
    '    ---',
    '    \\u202ename: invoice',
    '    ---',
    '      Text.\\u0020',
    '    Next\\u00a0one.',
  ]);
});

t.test('what has changed is shown line by line', async (t) => {
  const was = { 'SKILL.md': 'a\nb\nc\n', 'gone.md': 'x', 'same.md': 's', 'end.md': 'e' };
  const now = { 'SKILL.md': 'a\nB\tb\nc\n', 'new.md': 'n', 'same.md': 's', 'end.md': 'e\n' };
  t.strictSame(skillDiff({ ...SKILL, state: 'changed', was, now }), [
    'ada/invoice changed:',
    '',
    'SKILL.md',
    'line 2:',
    '- b',
    '+ B\\tb',
    '',
    'end.md',
    '(Only the line break at the end differs.)',
    '',
    'gone.md is gone.',
    '',
    'new.md is new:',
    '+ n',
  ]);
  t.strictSame(skillDiff({ ...SKILL, state: 'approved' }), []);
  t.match(skillDiff(SKILL), ['ada/invoice is new:', '', 'SKILL.md', '+ ---']);
  t.match(skillDiff({ ...SKILL, state: 'changed' }), [/^ada\/invoice changed\. What was approved was too long to keep; it is now:$/]);
  t.strictSame(skillDiff({ ...SKILL, state: 'unusable', problem: 'skills/x has no SKILL.md.' }), ["ada/invoice can't be used: skills/x has no SKILL.md."]);
});

t.test('an empty line that is new or gone has nothing at its end', async (t) => {
  const was = { 'a.md': 'one\n\ntwo\n' };
  t.strictSame(skillDiff({ ...SKILL, state: 'changed', was, now: { 'a.md': 'one\n\nthree \n\ntwo\n' } }).slice(2), ['a.md', 'line 3:', '+ three\\u0020', '+']);
  t.strictSame(skillDiff({ ...SKILL, state: 'changed', was, now: { 'a.md': 'one\ntwo\n' } }).slice(3), ['line 2:', '-']);
  t.strictSame(skillDiff({ ...SKILL, now: was }).slice(3), ['+ one', '+', '+ two']);
});
