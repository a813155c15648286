// A server for tests of tasks, in a process of its own: a block whose tools are those of a server that makes tasks of calls. It ends when the message has its outcome.
// Its only argument is JSON (TaskNodeOptions).
import { createOllama } from '../../../adapters/ollama/index.ts';
import { createToolHost } from '../../../adapters/tools/index.ts';
import { createCore } from '../../../core/index.ts';

export interface TaskNodeOptions {
  readonly workspace: string;
  readonly daemon: string;
  /** The entry of the server in mcp.json. */
  readonly bank: object;
}

const { workspace, daemon, bank } = JSON.parse(process.argv[2] ?? '{}') as TaskNodeOptions;
const host = createToolHost({ workspace, env: process.env });
const { servers } = host;
if (servers === undefined) throw new Error('The host manages no servers.');
const core = createCore({ workspace, adapters: [createOllama()], env: { OLLAMA_BASE_URL: daemon }, tools: host });
await core.start();
if ((await core.blocks.list()).length === 0) {
  await servers.put('bank', { server: bank });
  const { definition, tools } = await servers.test('bank', { definition: (await servers.get('bank')).definition }, new AbortController().signal);
  await servers.approve('bank', { definition, tools: Object.fromEntries(tools.map(({ name, hash }) => [name, hash])) }, 'cli');
  await core.blocks.create({ name: 'ada', config: { adapter: { provider: 'ollama', model: 'm' }, tools: { servers: ['bank'], allow: ['bank/*'] } } });
  await core.blocks.post('ada', { message: 'Pay bob.' }, 'api');
}
await core.blocks.start('ada');
const isOver = async (): Promise<boolean> => (await core.blocks.history('ada')).some(({ status }) => status === 'done' || status === 'failed');
while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 10));
await core.close();
