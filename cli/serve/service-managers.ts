// systemd and launchd, as far as one user can ask them without root: write the file of the service, start it, stop it, ask for its state.
//
// owner-only: the file of the service, its log and their folders are made for this user alone, whatever the umask is, and an older file with another
//   mode is replaced: another user who may write it could run programs as this one.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '../../core/index.ts';
import { CliError } from '../terminal/exit-codes.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { launchdAgent, SERVICE, type ServerCommandLine, systemdUnit } from './service-files.ts';

/** What a manager says about the service. */
export interface ServiceState {
  /** Whether its process runs. */
  readonly active: boolean;
  /** Whether it starts at the next login. */
  readonly enabled: boolean;
}

/** What runs services on a system. A failed command of it is a CliError with the command and what it said. */
export interface ServiceManager {
  readonly id: 'systemd' | 'launchd';
  /** What its file is called there, such as `a systemd user unit`. */
  readonly kind: string;
  /** The file that describes the service. */
  readonly file: string;
  /** The command that shows the log. */
  readonly logs: string;
  /** The command that edits its environment. */
  readonly edit: string;
  /** The command that runs it while its user is logged out; undefined where there is none. */
  readonly keepsRunning?: string;
  /** Whether this user has a session of it. */
  isReachable(): Promise<boolean>;
  /** Writes the file, and starts the service now and at each login; restarts it where it runs. */
  install(command: ServerCommandLine): Promise<void>;
  /** Stops the service and deletes the file. */
  uninstall(): Promise<void>;
  state(): Promise<ServiceState>;
}

/** The manager of a platform; undefined for one that has neither systemd nor launchd. */
export function serviceManager(platform: NodeJS.Platform, env: Environment): ServiceManager | undefined {
  const home = env['HOME'] ?? homedir();
  if (platform === 'linux') return new Systemd(home, env);
  return platform === 'darwin' ? new Launchd(home, env) : undefined;
}

interface Ran {
  readonly ok: boolean;
  readonly stdout: string;
  /** What it says about its failure. */
  readonly fault: string;
}

const WRITABLE_BY_OTHERS = 0o022;
/** Longer than a manager waits for a service to stop. */
const TOOL_PATIENCE_MS = 60_000;

class Tool {
  readonly #env: Environment;
  readonly #words: readonly string[];

  constructor(env: Environment, ...words: readonly string[]) {
    this.#env = env;
    this.#words = words;
  }

  try(...args: readonly string[]): Promise<Ran> {
    const [command = '', ...first] = this.#words;
    return new Promise((resolve) => {
      execFile(command, [...first, ...args], { env: this.#env, timeout: TOOL_PATIENCE_MS }, (error, stdout, stderr) =>
        resolve({ ok: error === null, stdout: stdout.trim(), fault: stderr.trim() || (error?.message ?? '') }),
      );
    });
  }

  async run(...args: readonly string[]): Promise<void> {
    const { ok, fault } = await this.try(...args);
    if (!ok) throw new CliError('place', `\`${[...this.#words, ...args].join(' ')}\` failed: ${fault.replace(/\.$/, '')}.`);
  }
}

/** owner-only. */
async function makeOwnFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { mode } = await stat(folder);
  if ((mode & WRITABLE_BY_OTHERS) !== 0) await chmod(folder, mode & 0o7777 & ~WRITABLE_BY_OTHERS);
}

/** owner-only. */
async function writeServiceFile(file: string, text: string): Promise<void> {
  try {
    await makeOwnFolder(dirname(file));
    await rm(file, { force: true });
    await writeFile(file, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new CliError('place', `${file} can't be written: ${(error as Error).message}.`, error);
  }
}

class Systemd implements ServiceManager {
  readonly id = 'systemd';
  readonly kind = 'a systemd user unit';
  readonly file: string;
  readonly logs = `journalctl --user -u ${SERVICE} -f`;
  readonly edit = `systemctl --user edit ${SERVICE}`;
  readonly keepsRunning = 'loginctl enable-linger';
  readonly #systemctl: Tool;

  constructor(home: string, env: Environment) {
    this.file = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'systemd', 'user', `${SERVICE}.service`);
    this.#systemctl = new Tool(env, 'systemctl', '--user');
  }

  async isReachable(): Promise<boolean> {
    return (await this.#systemctl.try('show', '--property=Version')).ok;
  }

  async install(command: ServerCommandLine): Promise<void> {
    await writeServiceFile(this.file, systemdUnit(command));
    await this.#systemctl.run('daemon-reload');
    await this.#systemctl.run('enable', SERVICE);
    await this.#systemctl.run('restart', SERVICE);
  }

  async uninstall(): Promise<void> {
    await this.#systemctl.run('disable', '--now', SERVICE);
    await rm(this.file, { force: true });
    await this.#systemctl.run('daemon-reload');
  }

  async state(): Promise<ServiceState> {
    const [active, enabled] = await Promise.all([this.#systemctl.try('is-active', SERVICE), this.#systemctl.try('is-enabled', SERVICE)]);
    return { active: active.ok, enabled: enabled.ok };
  }
}

const UNLOAD_PATIENCE_MS = 30_000;
const POLL_MS = 100;

class Launchd implements ServiceManager {
  readonly id = 'launchd';
  readonly kind = 'a launchd agent';
  readonly file: string;
  readonly logs: string;
  readonly edit: string;
  readonly #logFile: string;
  readonly #launchctl: Tool;
  /** The login session of this user. */
  readonly #domain = `gui/${process.getuid?.() ?? 0}`;

  constructor(home: string, env: Environment) {
    this.file = join(home, 'Library', 'LaunchAgents', `${SERVICE}.plist`);
    this.#logFile = join(home, 'Library', 'Logs', `${SERVICE}.log`);
    this.logs = `tail -f ${shellWord(this.#logFile)}`;
    this.edit = `open -e ${shellWord(this.file)}`;
    this.#launchctl = new Tool(env, 'launchctl');
  }

  async isReachable(): Promise<boolean> {
    return (await this.#launchctl.try('print', this.#domain)).ok;
  }

  async install(command: ServerCommandLine): Promise<void> {
    await this.#unload();
    await makeOwnFolder(dirname(this.#logFile));
    await writeFile(this.#logFile, '', { mode: 0o600, flag: 'a' });
    await chmod(this.#logFile, 0o600);
    await writeServiceFile(this.file, launchdAgent(command, this.#logFile));
    await this.#launchctl.run('bootstrap', this.#domain, this.file);
  }

  async uninstall(): Promise<void> {
    await this.#unload();
    await rm(this.file, { force: true });
  }

  async state(): Promise<ServiceState> {
    const { ok, stdout } = await this.#print();
    return { active: ok && /^\s*state = running$/m.test(stdout), enabled: existsSync(this.file) };
  }

  #print(): Promise<Ran> {
    return this.#launchctl.try('print', `${this.#domain}/${SERVICE}`);
  }

  /** `bootout` returns before the process has ended, and `bootstrap` fails until then. */
  async #unload(): Promise<void> {
    if (!(await this.#print()).ok) return;
    await this.#launchctl.run('bootout', `${this.#domain}/${SERVICE}`);
    const deadline = performance.now() + UNLOAD_PATIENCE_MS;
    while ((await this.#print()).ok) {
      if (performance.now() > deadline) throw new CliError('place', `launchd has not stopped the service after ${UNLOAD_PATIENCE_MS / 1000} s; try again.`);
      await delay(POLL_MS);
    }
  }
}
