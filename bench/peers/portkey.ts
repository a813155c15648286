// Portkey's gateway: OpenAI's Chat Completions in, the provider and its address in headers.
import { join } from 'node:path';
import { launch, type Server } from '../harness/processes.ts';
import { type Target, targetOf } from '../harness/targets.ts';
import { WIRE } from '../servers/wire.ts';

export function startPortkey(folder: string, port: number): Promise<Server> {
  const main = join(folder, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js');
  return launch({
    name: 'portkey',
    args: [main, `--port=${port}`, '--headless'],
    // Its default in production; the mock stands on this machine, where it would not go otherwise.
    env: { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: 'localhost,127.0.0.1' },
    cwd: folder,
    url: `http://127.0.0.1:${port}`,
  });
}

export function portkeyTarget(server: Server, upstream: Server): Target {
  const wire = WIRE['openai-chat'];
  return targetOf(server, 'portkey', {
    path: () => '/v1/chat/completions',
    body: (model, prompt, stream) => wire.request(model, prompt, stream),
    headers: `authorization: Bearer bench-key\r\nx-portkey-provider: openai\r\nx-portkey-custom-host: ${upstream.url}/v1\r\n`,
    endMark: wire.endMark,
  });
}
