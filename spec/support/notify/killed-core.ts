// A server that tells of an answered message, and waits to be killed: `killed-core.ts <workspace> <url of the daemon>`.
import { createOllama } from '../../../adapters/ollama/index.ts';
import { createNoticeSender } from '../../../adapters/outbound/notice-sender.ts';
import { createCore } from '../../../core/index.ts';

const [workspace = '', daemon = ''] = process.argv.slice(2);
const core = createCore({ workspace, adapters: [createOllama()], env: { OLLAMA_BASE_URL: daemon }, notices: createNoticeSender() });
await core.start();
await core.blocks.post('ada', { message: 'Hello.' }, 'api');
await core.blocks.start('ada');
setInterval(() => undefined, 1000);
