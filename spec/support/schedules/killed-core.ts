// A process that dies with `kill -9` right after the message of a schedule is stored, and before that is noted: `tsx killed-core.ts <workspace> <epoch ms> <provider url>`.
import { createOllama } from '../../../adapters/ollama/index.ts';
import { createCore } from '../../../core/index.ts';

const [workspace = '', now = '', url = ''] = process.argv.slice(2);
const core = createCore({ workspace, adapters: [createOllama()], env: { OLLAMA_BASE_URL: url }, clock: () => Number(now) });
core.events.on('message.queued', () => process.kill(process.pid, 'SIGKILL'));
await core.start();
await new Promise((resolve) => setTimeout(resolve, 60_000));
