// What one would write oneself: a server of Hono around the Vercel AI SDK, one route, no checks. Run as a program, it is that server:
// `hono-ai-sdk.ts <folder of the packages> <URL of the mock>`.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, type Server } from '../harness/processes.ts';
import { type Target, targetOf } from '../harness/targets.ts';

export function startHonoAiSdk(folder: string, upstream: Server): Promise<Server> {
  const env = { NODE_ENV: 'production' };
  return launch({ name: 'hono + AI SDK', args: ['--import', 'tsx', import.meta.filename, folder, upstream.url], env, cwd: import.meta.dirname });
}

/** The stream is the bare text: the lightest form that the SDK has, and it has no end mark. */
export function aiSdkTarget(server: Server): Target {
  return targetOf(server, 'hono + AI SDK', {
    path: () => '/chat',
    body: (model, prompt, stream) => JSON.stringify({ model, messages: [{ role: 'user', content: prompt }], stream }),
    endMark: '',
  });
}

/** As much of the packages as is used; their own types are not here. */
interface Packages {
  readonly Hono: new () => { post(path: string, handler: (context: HonoContext) => Promise<Response>): void; readonly fetch: unknown };
  readonly serve: (options: { fetch: unknown; port: number; hostname: string }, onListen: (info: { port: number }) => void) => void;
  readonly generateText: (options: unknown) => Promise<{ text: string; finishReason: string; usage: unknown }>;
  readonly streamText: (options: unknown) => { toTextStreamResponse(): Response };
  readonly createOpenAICompatible: (options: unknown) => (model: string) => unknown;
}

interface HonoContext {
  readonly req: { json(): Promise<{ model: string; messages: unknown; stream: boolean }> };
  json(value: unknown): Response;
}

async function serve(folder: string, upstream: string): Promise<void> {
  const { Hono, serve: listen, generateText, streamText, createOpenAICompatible } = await load(folder);
  const provider = createOpenAICompatible({ name: 'mock', baseURL: `${upstream}/v1`, apiKey: 'bench-key' });
  const app = new Hono();
  app.post('/chat', async (context) => {
    const { model, messages, stream } = await context.req.json();
    const options = { model: provider(model), messages, maxOutputTokens: 4096 };
    if (stream) return streamText(options).toTextStreamResponse();
    const { text, finishReason, usage } = await generateText(options);
    return context.json({ message: { role: 'assistant', content: text }, finishReason, usage });
  });
  listen({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
    process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, pid: process.pid })}\n`),
  );
}

async function load(folder: string): Promise<Packages> {
  const { resolve } = createRequire(join(folder, 'package.json'));
  const names = ['hono', '@hono/node-server', 'ai', '@ai-sdk/openai-compatible'];
  const modules = await Promise.all(names.map((name) => import(pathToFileURL(resolve(name)).href)));
  return Object.assign({}, ...modules) as Packages;
}

if (process.argv[1] === import.meta.filename) {
  process.once('SIGTERM', () => process.exit(0));
  await serve(process.argv[2] ?? '', process.argv[3] ?? '');
}
