// A core whose block "ada" may read skills, with the real host of tools, before a model that a test writes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { createToolHost } from '../../../adapters/tools/index.ts';
import type { ChatEntry, RunRecord } from '../../../core/types.ts';
import { RUNNABLE, type StartedCore, type StartOptions, startCore } from '../blocks.ts';
import { testFolder } from '../test-folder.ts';
import { outcomeOf } from './tool-core.ts';
import { type Said, type Seen, toolModel } from './tool-model.ts';

export interface SkillCoreOptions extends Omit<StartOptions, 'workspace' | 'tools' | 'answer'> {
  /** What the model says; by default it reads the skill `invoice` and says what it has read. */
  readonly say?: (seen: Seen, index: number) => Said | Promise<Said>;
  readonly config?: object;
}

export interface SkillCore extends StartedCore {
  readonly workspace: string;
  /** Writes a file of the workspace. */
  write(path: string, text: string | Uint8Array): void;
  /** Approves a skill as it is. */
  approve(owner: string, name: string): Promise<void>;
  /** Posts a message, and waits for its outcome. */
  ask(message: string): Promise<ChatEntry>;
  post(message: string): Promise<string>;
  outcome(id: string): Promise<ChatEntry>;
  records(id: string): Promise<readonly RunRecord[]>;
  /** The answer to the last message. */
  answer(): Promise<string>;
  prompts(): {
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly tools?: readonly { function: { name: string } }[];
  }[];
}

/** The text of a SKILL.md. */
export function skillMd(name: string, description = `How to do ${name}.`, body = `The text of ${name}.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;
}

export const READ = { name: 'block__read_skill', arguments: { name: 'invoice' } };
const readOnce = ({ results }: Seen): Said => (results.length === 0 ? [READ] : `Read: ${results.join(' | ')}`);

export async function skillCore(t: Test, { say = readOnce, config = { skills: ['*'] }, files = {}, ...options }: SkillCoreOptions = {}): Promise<SkillCore> {
  const workspace = `${testFolder(t, { workspace: files })}/workspace`;
  const one = await startCore(t, { ...options, workspace, tools: createToolHost({ workspace, env: {} }), answer: toolModel(say) });
  if (!(await one.blocks.list()).some(({ name }) => name === 'ada')) await one.create('ada', { ...RUNNABLE, ...config });
  const history = (): Promise<readonly ChatEntry[]> => one.blocks.history('ada');
  const entry = async (id: string): Promise<ChatEntry> => (await history()).find((found) => found.id === id) as ChatEntry;
  const post = async (message: string): Promise<string> => {
    const { id } = await one.blocks.post('ada', { message }, 'api');
    await one.blocks.start('ada');
    return id;
  };
  const outcome = (id: string): Promise<ChatEntry> => outcomeOf(() => entry(id));
  return Object.assign(one, {
    workspace,
    write: (path: string, text: string | Uint8Array) => {
      mkdirSync(dirname(join(workspace, path)), { recursive: true });
      writeFileSync(join(workspace, path), text);
    },
    approve: async (owner: string, name: string) => {
      const { hash } = await one.blocks.skill(owner, name);
      await one.blocks.approveSkill(owner, name, { hash }, 'cli');
    },
    post,
    outcome,
    ask: async (message: string) => outcome(await post(message)),
    records: async (id: string) => (await one.blocks.run('ada', id)).records,
    answer: async () => (await history()).findLast(({ role }) => role === 'assistant')?.content ?? '',
    prompts: () => one.upstream.requests.map(({ body }) => JSON.parse(body)),
  });
}
