// The tools of a run while it goes on, and what people learn of those that are missing.
import t from 'tap';
import { RunSkills } from '../../../../../core/block/reply/run/run-skills.ts';
import { missingTools, RunTools } from '../../../../../core/block/reply/run/run-tools.ts';
import { RunState } from '../../../../../core/tools/journal.ts';
import type { ToolDefinition } from '../../../../../core/tools/port.ts';
import type { SkillHost } from '../../../../../core/tools/servers.ts';
import { type ToolSettings, toolSettings } from '../../../../../core/tools/settings.ts';
import type { RunRecord } from '../../../../../core/types.ts';
import { runRecord } from '../../../../support/tools/records.ts';

const FINDING = { servers: ['github'], allow: ['github/*'], limits: { definitionTokens: 2000 } };
const TRUSTED = { marks: { readOnly: ['*'], closedWorld: ['*'] } };
const GITHUB = Array.from({ length: 20 }, (_, index): ToolDefinition => {
  return {
    server: 'github',
    tool: `issues_${index}`,
    pin: `pin-of-issues_${index}`,
    description: 'x'.repeat(800),
    inputSchema: { type: 'object', properties: {} },
  };
});

const NO_SKILLS = await RunSkills.open({ host: undefined, owners: [] }, { skills: [] });

t.test('the list of a run grows with its journal', async (t) => {
  const catalogue = { tools: GITHUB, settings: { github: TRUSTED }, problems: [] };
  const state = new RunState([{ ...runRecord(), tools: ['github/issues_1#pin-of-issues_1'] } as RunRecord]);
  const list = new RunTools({ catalogue, settings: toolSettings({ tools: FINDING }) as ToolSettings, state, offer: undefined, skills: NO_SKILLS });
  t.strictSame(
    list.offered.map(({ id }) => id),
    ['github/issues_1'],
  );
  state.apply({ t: 'found', call: '1.1', query: 'x', tools: ['github/issues_0#pin-of-issues_0', 'github/issues_1#pin-of-issues_1'] });
  t.strictSame(
    list.offered.map(({ id }) => id),
    ['github/issues_1', 'github/issues_0'],
  );
  t.equal(list.offered, list.offered);
});

t.test('what is missing is said of tools and of skills, and a block with skills alone asks no server of tools', async (t) => {
  const asked: unknown[] = [];
  const host = {
    catalogue: async (servers: readonly string[]) => {
      asked.push(servers);
      return { tools: [], settings: {}, problems: [{ server: 'github', problem: 'it is not approved' }] };
    },
  };
  const skills = { offered: async () => ({ skills: [], problems: ['The skill invoice is new'] }) } as unknown as SkillHost;
  const source = { host: skills, owners: ['ada', '_'] };
  t.strictSame(await missingTools(host, { tools: null, skills: ['invoice'] }, source), ['The skill invoice is new']);
  t.strictSame(asked, []);
  const both = await missingTools(host, { tools: { servers: ['github'] }, skills: ['invoice'] }, source);
  t.strictSame(both, ['github: it is not approved', 'The skill invoice is new']);
  t.strictSame(await missingTools(host, { tools: null, skills: [] }, source), []);
});
