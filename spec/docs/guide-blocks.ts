// Reads the fenced blocks of a guide and runs them in their order, as a reader would: in one shell, in one HOME, with what they start running on.
//
// as-printed: the only change to a block is its ports, so that guides can run beside each other and beside a real server.
// one-process: all commands but the lasting ones run in one process, which costs a tenth of a process for each. spec/e2e runs them as a user does.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import tap, { type Test } from 'tap';
import { CLI, ROOT } from '../cli/run.ts';
import { managerHome } from '../cli/stand-in-managers.ts';
import { argsForText } from '../support/node-args.ts';
import { freePort } from '../support/free-port.ts';

export interface Block {
  /** `sh` runs in a shell, `text` is not run, and any other is a file whose name is the comment in its first line. */
  readonly language: string;
  readonly text: string;
}

export const GUIDES = join(ROOT, 'docs/guides');

/** The fenced blocks of a guide, by its path from the folder of the guides; a block in a list is indented. */
export function blocksOf(guide: string): Block[] {
  const markdown = readFileSync(join(GUIDES, guide), 'utf8');
  return [...markdown.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', language = '', text = '']) => ({
    language,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** Commands that go on until Ctrl-C, and what each prints once it is ready. */
const LASTING: readonly [command: RegExp, ready: string][] = [
  [/^blockhouse serve\n$/, 'blockhouse is listening'],
  [/^node page\.mjs\n$/, 'Open http'],
];
const LIMIT_MS = 60_000;

export interface Reader {
  readonly home: string;
  /** Does with a block what the guide says, and resolves with what it printed. Rejects when it fails. */
  follow(block: Block): Promise<string>;
}

function addExecutable(folder: string, name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/usr/bin/env bash\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

/** one-process: runs the command line of each process whose number it is sent, with the streams of that process, and answers with the exit code. */
const COMMANDS = `
  import { createReadStream, openSync, closeSync, readFileSync, readlinkSync, writeSync } from 'node:fs';
  import { createServer } from 'node:net';
  import { Writable } from 'node:stream';
  import { Cli } from 'clipanion';
  import { runProgram } from './cli/main/program.ts';
  createServer((socket) => socket.once('data', async (line) => {
    const its = '/proc/' + Number(line) + '/';
    const listOf = (file) => readFileSync(its + file, 'utf8').split('\\0').slice(0, -1);
    const env = Object.fromEntries(listOf('environ').map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]));
    process.chdir(readlinkSync(its + 'cwd'));
    process.env.HOME = env.HOME; // what os.homedir() looks at
    process.argv[1] = env.HOME + '/blockhouse';
    const stdin = createReadStream('', { fd: openSync(its + 'fd/4', 'r') });
    const fds = [5, 6].map((fd) => openSync(its + 'fd/' + fd, 'a'));
    const [stdout, stderr] = fds.map((fd) => new Writable({ write(chunk, _, done) { writeSync(fd, chunk); done(); } }));
    const code = await runProgram(listOf('cmdline').slice(2), { ...Cli.defaultContext, env, stdin, stdout, stderr });
    stdin.destroy();
    fds.forEach(closeSync);
    socket.end(code + '\\n');
  })).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;

let commands: Promise<number> | undefined;

/** The port of the process that runs commands: one for all readers. It ends with this one. */
function commandServer(): Promise<number> {
  commands ??= (async () => {
    const child = spawn(process.execPath, argsForText(COMMANDS), { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
    tap.teardown(() => end(child));
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    return Number(line);
  })();
  return commands;
}

/** `blockhouse` as a script of bash. What goes on, or starts what does, is a process of its own; and so is all where there is no /proc. */
async function commandScript(program: string): Promise<string> {
  const alone = `exec '${process.execPath}' '${program}' "$@"`;
  if (process.platform !== 'linux') return alone;
  return `if [ "$1" = serve ] || [ "$1" = service ] || [ "$1" = launch ]; then ${alone}; fi
exec 4<&0 5>&1 6>&2 # bash opens a connection as one of the first three, too
exec 3<>/dev/tcp/127.0.0.1/${await commandServer()}
echo $$ >&3
read -r code <&3
exit "$code"`;
}

/** Someone with a HOME of their own, `blockhouse` on the path, stand-ins for the service managers and for `pass`, and the package installed. */
export async function newReader(t: Test, env: Readonly<Record<string, string>>): Promise<Reader> {
  const { home, env: managers } = managerHome(t);
  const [port, second] = [await freePort(), await freePort()];
  // The link has the name `blockhouse`, so that hints of the command are written with it.
  symlinkSync(CLI, join(home, 'blockhouse'));
  addExecutable(join(home, 'bin'), 'blockhouse', await commandScript(join(home, 'blockhouse')));
  addExecutable(join(home, 'bin'), 'pass', 'echo sk-ant-a-key-of-the-test-0123456789');
  const project = join(home, 'project');
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  symlinkSync(ROOT, join(project, 'node_modules/blockhouse'));
  const shell = startShell(t, project, { ...managers, BLOCKHOUSE_PORT: String(port), ...env });
  const withPorts = (text: string): string => text.replaceAll('8420', String(port)).replaceAll('8421', String(second));
  return {
    home,
    async follow({ language, text }) {
      if (language === 'text') return '';
      if (language === 'sh') return shell(withPorts(text));
      const [, name] = /^(?:\/\/|#|<!--) (\S+)(?: -->)?\n/.exec(text) ?? [];
      if (name === undefined) throw new Error(`a block of ${language} does not begin with the name of its file:\n${text}`);
      writeFileSync(join(project, name), withPorts(text));
      return '';
    },
  };
}

/** A shell that runs one script after the other and keeps variables and functions between them. */
function startShell(t: Test, cwd: string, env: Record<string, string>): (script: string) => Promise<string> {
  // Through a pipe, since Node gives it sockets, which nobody else can open (one-process).
  const bash = spawn('bash', ['-c', 'bash --noprofile --norc -e -o pipefail 2>&1 | cat'], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  t.teardown(() => end(bash));
  let count = 0;
  return async (script) => {
    const lasting = LASTING.find(([command]) => command.test(script));
    if (lasting !== undefined) {
      const child = spawn('bash', ['-c', `exec ${script}`], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
      t.teardown(() => end(child));
      return printed(child, lasting[1], script);
    }
    count += 1;
    const file = join(cwd, `.block-${count}`);
    writeFileSync(file, script);
    const mark = `--- block ${count} has ended ---`;
    bash.stdin.write(`source ${file} </dev/null\necho '${mark}'\n`);
    return (await printed(bash, mark, script)).replace(`${mark}\n`, '');
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** What a process prints from now until it has printed `mark`. */
function printed(child: ReturnType<typeof spawn>, mark: string, script: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const finish = (settle: () => void): void => {
      clearTimeout(limit);
      child.stdout?.removeListener('data', take);
      child.stderr?.removeListener('data', take);
      child.removeListener('close', fail);
      child.stdout?.resume();
      child.stderr?.resume();
      settle();
    };
    const fail = (): void => finish(() => reject(new Error(`this block failed:\n${script}\nIt printed:\n${text}`)));
    const take = (chunk: Buffer): void => {
      text += chunk.toString();
      if (text.includes(mark)) finish(() => resolve(text));
    };
    const limit = setTimeout(fail, LIMIT_MS);
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.on('close', fail);
  });
}
