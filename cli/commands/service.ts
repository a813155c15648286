// `blockhouse service`: the server as a service of this user, which starts at login and after a failure.
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Command, Option } from 'clipanion';
import type { ProcessConfig } from '../../core/index.ts';
import { ServerCommand } from '../command/server-command.ts';
import type { ServerCommandLine } from '../serve/service-files.ts';
import type { ServiceManager } from '../serve/service-managers.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { columns } from '../terminal/output.ts';
import { shellWord } from '../terminal/shell-word.ts';

const category = 'Server';
/** This build's `blockhouse`, with links resolved. */
const SCRIPT = fileURLToPath(new URL('../main.js', import.meta.url));
/** How long the new service may take until it listens. */
const START_PATIENCE_MS = 15_000;
const POLL_MS = 50;
/** How often its manager is asked whether it still runs. */
const LOOK_MS = 1000;
/** What the unit has as options. */
const PASSED_ON = [
  'BLOCKHOUSE_WORKSPACE',
  'BLOCKHOUSE_HOST',
  'BLOCKHOUSE_PORT',
  'BLOCKHOUSE_OLLAMA_PORT',
  'BLOCKHOUSE_PUBLIC_ORIGIN',
  'BLOCKHOUSE_ALLOW_REMOTE',
];

abstract class ManagedCommand extends ServerCommand {
  protected async manager(): Promise<ServiceManager> {
    const { serviceManager } = await import('../serve/service-managers.ts');
    const manager = serviceManager(process.platform, this.context.env);
    if (manager === undefined)
      throw new CliError('place', `Services are not supported on ${process.platform}; run \`${this.hint('serve')}\` with the service manager of the system.`);
    if (await manager.isReachable()) return manager;
    if (manager.id === 'launchd') throw new CliError('place', 'There is no launchd login session here; log in at the screen of this Mac and try again.');
    await this.#sayWithoutSession();
    throw new CliError('place', 'There is no systemd user session here, so nothing was changed.');
  }

  async #sayWithoutSession(): Promise<void> {
    const serve = this.hint('serve');
    await this.say('What to do instead:');
    const rows = [
      ['in a container', `make \`${serve}\` its command`],
      ['in WSL', 'add [boot] systemd=true to /etc/wsl.conf, run wsl --shutdown'],
      ['after su, sudo', 'log in as that user, at the console or with ssh'],
      ['anywhere', `nohup ${serve} >> blockhouse.log 2>&1 &`],
    ];
    for (const line of columns(rows)) await this.say(`  ${line}`);
  }
}

/** The options of `serve` that say where it listens. */
function addressOptions({ host, port, ollamaPort, publicOrigin, allowRemote }: ProcessConfig): string[] {
  return [
    ...['--host', host],
    ...['--port', String(port)],
    ...(ollamaPort === undefined ? [] : ['--ollama-port', String(ollamaPort)]),
    ...(publicOrigin === undefined ? [] : ['--public-origin', publicOrigin]),
    ...(allowRemote ? ['--allow-remote'] : []),
  ];
}

/** Prints the file, or `{manager, file, command, logs, url}`. */
export class ServiceInstallCommand extends ManagedCommand {
  static override readonly paths = [['service', 'install']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Run the server as a service, now and at each login',
    details: `
      Writes a systemd user unit (Linux) or a launchd agent (macOS) with the paths of this Node and this build, and starts it. Needs no root.
      Run it again after an upgrade of Node or of Blockhouse, or with another port: it replaces the file and restarts the server.

      The service does not see the variables of your shell, keys included. \`blockhouse auth set <id>\` stores a key where the service finds it.
    `,
    examples: [
      ['On the default port', '$0 service install'],
      ['Another workspace and port', '$0 service install --workspace ~/work/blocks --port 9000'],
      ['Behind a proxy with TLS', '$0 service install --public-origin https://blocks.example.org'],
    ],
  });

  host = Option.String('--host', { description: 'Address to listen on; default: BLOCKHOUSE_HOST, or 127.0.0.1' });
  port = Option.String('--port', { description: 'Port to listen on; default: BLOCKHOUSE_PORT, or 8420' });
  ollamaPort = Option.String('--ollama-port', {
    description: "Port of a second server on 127.0.0.1 with Ollama's API alone; default: BLOCKHOUSE_OLLAMA_PORT, or none",
  });
  publicOrigin = Option.String('--public-origin', {
    description: 'The https origin under which a proxy serves it; default: BLOCKHOUSE_PUBLIC_ORIGIN, or none',
  });
  allowRemote = Option.Boolean('--allow-remote', { description: 'Allow an address that other machines can reach' });

  protected override run(): Promise<ExitKind> {
    return this.interruptible(async (signal) => {
      const { readConfig } = await import('../serve/place.ts');
      const { workspace, host, port, ollamaPort, publicOrigin, allowRemote } = this;
      const config = readConfig({ workspace, host, port, ollamaPort, publicOrigin, allowRemote }, this.context.env);
      if (config.port === 0) throw new CliError('usage', 'A service needs a fixed port; choose one with --port, such as 8420.');
      if (config.ollamaPort === 0) throw new CliError('usage', 'A service needs a fixed port; choose one with --ollama-port, such as 11435.');
      const manager = await this.manager();
      const before = await this.#refuseSecondServer(config, manager);
      const command: ServerCommandLine = [process.execPath, SCRIPT, 'serve', '--workspace', config.workspace, ...addressOptions(config)];
      await manager.install(command);
      const [node, script, ...args] = command.map(shellWord);
      await this.say(`Wrote ${manager.kind} that runs\n  ${node} ${script} \\\n    ${args.join(' ')}`);
      const url = await this.#listening(config, manager, before, signal);
      await this.print({ manager: manager.id, file: manager.file, command, logs: manager.logs, url }, [manager.file]);
      await this.#explain(manager, url);
      await this.#sayUnseen(config, manager);
      return 'ok';
    });
  }

  /** The process of the service that runs already; undefined for none. */
  async #refuseSecondServer({ workspace }: ProcessConfig, manager: ServiceManager): Promise<number | undefined> {
    const { readLock } = await import('../../core/client-parts.ts');
    const holder = existsSync(workspace) ? await readLock(workspace) : undefined;
    if (holder !== undefined && !(await manager.state()).active)
      throw new CliError('place', `A server is already running for ${workspace} (process ${holder.pid}); stop it with \`${this.hint('stop')}\` and try again.`);
    return holder?.pid;
  }

  async #listening({ workspace }: ProcessConfig, manager: ServiceManager, before: number | undefined, signal: AbortSignal): Promise<string> {
    const { readLock } = await import('../../core/client-parts.ts');
    for (let waited = 0; waited < START_PATIENCE_MS; waited += POLL_MS) {
      const holder = existsSync(workspace) ? await readLock(workspace) : undefined;
      if (holder !== undefined && holder.pid !== before && holder.url !== null) return holder.url;
      if (waited % LOOK_MS === 0 && waited > 0 && !(await manager.state()).active) break;
      await delay(POLL_MS, undefined, { signal });
    }
    throw new CliError('server', `The service is installed, but its server is not running; the log says why: \`${manager.logs}\`.`);
  }

  async #explain({ logs, keepsRunning }: ServiceManager, url: string): Promise<void> {
    await this.say(`Listens on ${url}; starts at login and after a failure.\n`);
    const rows = [
      ['its state', this.hint('service', 'status')],
      ['its log', logs],
      ['remove it', this.hint('service', 'uninstall')],
      ...(keepsRunning === undefined ? [] : [['also while you are logged out', keepsRunning]]),
    ];
    for (const line of columns(rows)) await this.say(`  ${line}`);
  }

  /** Names the settings of this shell that the service does not have; their values stay out of the file, because keys do not belong there. */
  async #sayUnseen(config: ProcessConfig, manager: ServiceManager): Promise<void> {
    const { createConfiguredCore } = await import('../compose.ts');
    const { env } = this.context;
    const core = await createConfiguredCore(config, env);
    try {
      for (const { adapter, field, source } of core.settings().filter(({ source }) => env[source] !== undefined))
        await this.say(`note: the service does not see ${source} of this shell. To store it:\n  ${this.hint('auth', 'set', adapter, '--field', field)}`);
    } finally {
      await core.close();
    }
    const own = Object.keys(env).filter((name) => name.startsWith('BLOCKHOUSE_') && !PASSED_ON.includes(name));
    if (own.length > 0) await this.say(`note: the service does not see ${own.join(', ')} of this shell. To set it:\n  ${manager.edit}`);
  }
}

/** Prints `{manager, file, removed}`. */
export class ServiceUninstallCommand extends ManagedCommand {
  static override readonly paths = [['service', 'uninstall']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Stop the service and remove its file',
    details: 'The workspace with its blocks and keys stays.',
    examples: [['Run no service any more', '$0 service uninstall']],
  });

  protected override async run(): Promise<ExitKind> {
    const manager = await this.manager();
    const { id, file } = manager;
    const removed = existsSync(file);
    if (removed) await manager.uninstall();
    await this.print({ manager: id, file, removed }, []);
    await this.say(removed ? `Stopped the service and removed its file:\n  ${file}\nThe workspace was kept.` : `No service is installed: there is no ${file}.`);
    return 'ok';
  }
}

/** Prints `{manager, file, installed, active, enabled, logs}`. */
export class ServiceStatusCommand extends ManagedCommand {
  static override readonly paths = [['service', 'status']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Say whether the service is installed and runs',
    details: 'Ends with exit code 6 when it does not run.',
    examples: [['Does it run?', '$0 service status']],
  });

  protected override async run(): Promise<ExitKind> {
    const manager = await this.manager();
    const { id, file, logs } = manager;
    const installed = existsSync(file);
    const { active, enabled } = installed ? await manager.state() : { active: false, enabled: false };
    const rows = [
      ['state', installed ? (active ? 'running' : 'not running') : 'not installed'],
      ['at login', enabled ? 'starts' : 'does not start'],
      ['file', file],
      ['log', logs],
    ];
    await this.print({ manager: id, file, installed, active, enabled, logs }, installed ? columns(rows) : []);
    if (!installed) await this.say(`No service is installed; \`${this.hint('service', 'install')}\` installs it.`);
    return active ? 'ok' : 'server';
  }
}
