// Another user of the machine, for tests that root runs on Linux: only root may start a program as somebody else.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Test } from 'tap';

const NOBODY = 65_534;

/** For the options of a test. */
export const withOtherUser: { readonly skip?: string } =
  process.platform === 'linux' && process.geteuid?.() === 0 ? {} : { skip: 'only root on Linux may start a program as another user' };

/** Runs a script of Node as another user, until the end of the test. */
export function startAsOther(t: Test, script: string, ...args: readonly string[]): { readonly stdout: Readable; readonly pid: number } {
  const child = spawn(process.execPath, ['-e', script, ...args], { uid: NOBODY, gid: NOBODY, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  return { stdout: child.stdout, pid: child.pid ?? 0 };
}

/** A port of 127.0.0.1 on which another user listens, and answers each request that arrives. */
export async function portOfOther(t: Test): Promise<{ readonly port: number; readonly pid: number }> {
  const script =
    "const server = require('node:http').createServer((req, res) => res.setHeader('x-request-id', 'x').end('{}')).listen(0, '127.0.0.1', () => console.log(server.address().port))";
  const { stdout, pid } = startAsOther(t, script);
  const [port] = (await once(stdout, 'data')) as [Buffer];
  return { port: Number(String(port)), pid };
}
