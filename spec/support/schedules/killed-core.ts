// A process that dies with `kill -9` right after the message of a schedule is stored, and before that is noted:
// `tsx killed-core.ts <workspace> <epoch ms> <provider url> [<database>]`. In a database, whose clock it goes by, it makes the block itself, with a run that comes soon.
import { createOllama } from '../../../adapters/ollama/index.ts';
import { connectStore, createCore } from '../../../core/index.ts';

const [workspace = '', now = '', url = '', database] = process.argv.slice(2);
const store = database === undefined ? { clock: () => Number(now) } : { store: await connectStore(database) };
const core = createCore({ workspace, adapters: [createOllama()], env: { OLLAMA_BASE_URL: url }, ...store });
core.events.on('message.queued', () => process.kill(process.pid, 'SIGKILL'));
await core.start();
if (database !== undefined) {
  await core.blocks.create({ name: 'ada', config: { adapter: { provider: 'ollama', model: 'm' } } });
  await core.blocks.start('ada');
  // On a busy machine, a time may be over before it is seen.
  for (let wait = 1000; ; wait *= 2) {
    const at = new Date(Date.now() + wait).toISOString();
    await core.blocks.updateConfig('ada', { schedule: [{ id: 'once', at, message: 'Write.', graceMinutes: 60 }] });
    await new Promise((resolve) => setTimeout(resolve, wait + 2000));
  }
}
await new Promise((resolve) => setTimeout(resolve, 60_000));
