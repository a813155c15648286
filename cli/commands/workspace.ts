// `blockhouse doctor`, `nodes`, `halt` and `unhalt`, which concern the whole workspace.
import { existsSync } from 'node:fs';
import { Command, Option } from 'clipanion';
import type { AdapterStatus, Core, DoctorReport, HaltState, ServerNode, VerifyResult } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { plural, relative } from '../terminal/format.ts';
import { folded, oneLine } from '../terminal/output.ts';
import { nodesTable } from '../views/report-tables.ts';

const category = 'Workspace';

/** What `doctor` has found; `providers` with `--online`. */
interface Checked extends DoctorReport {
  readonly providers?: readonly VerifyResult[];
}

/** Prints `{ok, checked, findings, providers?}`, or a line for each finding and its fix. */
export class DoctorCommand extends ServerCommand {
  static override readonly paths = [['doctor']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Check every file and message of the workspace',
    details: `
      Changes nothing, and needs no server: without one, it reads the files itself, and asks the database of BLOCKHOUSE_STORE itself. With \`--online\`, it also tries the key of each provider
      that has one, which calls no model. Ends with exit code 1 when it finds an error.
    `,
    examples: [
      ['The files', '$0 doctor'],
      ['And the keys', '$0 doctor --online'],
      ['In a script', '$0 doctor --json'],
    ],
  });

  online = Option.Boolean('--online', false, { description: 'Try the keys of the providers, too' });

  protected override async run(): Promise<ExitKind> {
    const config = await this.config();
    if (!existsSync(config.workspace)) {
      throw new CliError('place', `There is no workspace ${config.workspace}; \`${this.hint('serve')}\` creates it.`);
    }
    const [{ inWorkspace }, { checkStore }] = await Promise.all([import('../serve/place.ts'), import('../../core/index.ts')]);
    const server = async (api: Api): Promise<Checked> =>
      this.#checked(
        await api.check(),
        await this.#triedBy(
          () => api.adapterStatus(),
          (id) => api.verify(id),
        ),
      );
    const shell = async (core: Core, signal: AbortSignal): Promise<Checked> =>
      this.#checked(
        withDatabase(await inWorkspace(config, () => core.check()), config.store && (await checkStore(config.store.url, config.store))),
        await this.#triedBy(
          async () => ({ adapters: await core.status({ signal }) }),
          (id) => core.verify(id, {}, { signal }),
        ),
      );
    return this.withServerOrShell({ server, shell }, (checked) => this.#show(checked));
  }

  #checked(report: DoctorReport, providers: readonly VerifyResult[] | undefined): Checked {
    return { ...report, ok: report.ok && (providers ?? []).every(({ ok }) => ok), ...(providers !== undefined && { providers }) };
  }

  /** The results of the providers that have something to try. */
  async #triedBy(
    list: () => Promise<{ readonly adapters: readonly AdapterStatus[] }>,
    verify: (id: string) => Promise<VerifyResult>,
  ): Promise<readonly VerifyResult[] | undefined> {
    if (!this.online) return undefined;
    const { adapters } = await list();
    return Promise.all(adapters.filter(({ ready, hasSecret }) => ready || hasSecret).map(({ id }) => verify(id)));
  }

  async #show(checked: Checked): Promise<ExitKind> {
    const { findings, providers } = checked;
    await this.print(checked, [...this.#lines(checked), ...(providers ?? []).map((provider) => this.#providerLine(provider))]);
    const { blocks, files, messages } = checked.checked;
    const tried = providers === undefined ? '' : `, ${plural(providers.length, 'provider')}`;
    const wrong = findings.length + (providers ?? []).filter(({ ok }) => !ok).length;
    const found = wrong === 0 ? 'nothing wrong' : plural(wrong, 'finding');
    await this.say(`Checked ${plural(blocks, 'block')}, ${plural(files, 'file')}, ${plural(messages, 'message')}${tried}: ${found}.`);
    return checked.ok ? 'ok' : 'unexpected';
  }

  #providerLine({ provider, ok, detail }: VerifyResult): string {
    const { bad, good } = this.style;
    return `${ok ? good('ok     ') : bad('error  ')} ${oneLine(`${provider}: ${detail}`)}`;
  }

  #lines({ findings }: DoctorReport): string[] {
    const { bad, warn, dim } = this.style;
    const labelled = (label: string, text: string): string[] => {
      const [first = '', ...more] = folded(oneLine(text), this.width - 13);
      return [`${label} ${first}`, ...more.map((line) => ' '.repeat(13) + line)];
    };
    return findings.flatMap(({ severity, place, problem, fix }) => [
      ...labelled((severity === 'error' ? bad : warn)(severity.padEnd(7)), `${place}: ${problem}`),
      ...labelled(`        ${dim('fix:')}`, this.own(fix)),
    ]);
  }
}

/** What was found in the folder, and in the database that keeps the workspace, if one does. */
function withDatabase(report: DoctorReport, stored: Awaited<ReturnType<typeof import('../../core/index.ts').checkStore>> | undefined): DoctorReport {
  if (stored === undefined) return report;
  const { checked, findings } = report;
  return {
    ok: report.ok && stored.findings.every(({ severity }) => severity !== 'error'),
    checked: { ...checked, blocks: checked.blocks + stored.blocks },
    findings: [...findings, ...stored.findings],
  };
}

/** Prints `{nodes}`, or a table; with `--drain` or `--undrain` the server that was asked. */
export class NodesCommand extends ServerCommand {
  static override readonly paths = [['nodes']];
  static override readonly usage = Command.Usage({
    category: 'Server',
    description: 'List the servers that share the workspace',
    details: `
      \`*\` marks the server that answers, \`!\` one that gives no sign of life: others take its blocks. BLOCKS counts those that a server has
      because something is to be done in them, or was a moment ago. Without a database there is one server.

      Drain a server before you stop or replace its machine: it takes no more blocks, and gives each of its own away when the reply under way is over.
      It still answers requests. It stays drained until it ends, or until \`--undrain\`. Write its id, the beginning of it, or its address,
      which means all workers of that server.
    `,
    examples: [
      ['Who is there', '$0 nodes'],
      ['For a program', '$0 nodes --json'],
      ['Before a machine goes', '$0 nodes --drain 6b0d'],
      ['It goes on', '$0 nodes --undrain 6b0d'],
    ],
  });

  drain = Option.String('--drain', { description: 'Let this server give its blocks away' });
  undrain = Option.String('--undrain', { description: 'Let this server take blocks again' });

  protected override async run(): Promise<ExitKind> {
    const { drain, undrain } = this;
    if (drain !== undefined && undrain !== undefined) throw new CliError('usage', 'Give --drain or --undrain, not both.');
    return this.withServer(async (api) => {
      const nodes = await api.nodes();
      const wanted = drain ?? undrain;
      if (wanted !== undefined) return this.#drain(api, nodesNamed(nodes, wanted), drain !== undefined);
      await this.print({ nodes }, nodesTable(nodes, { now: Date.now(), width: this.width, style: this.style }));
      return 'ok';
    });
  }

  async #drain(api: Api, [first, ...others]: Named, isDraining: boolean): Promise<ExitKind> {
    const node = await api.drain(first.id, isDraining);
    const more = await Promise.all(others.map(({ id }) => api.drain(id, isDraining)));
    await this.print(more.length === 0 ? node : { nodes: [node, ...more] }, []);
    for (const { id, blocks } of [node, ...more]) {
      const left =
        blocks === 0
          ? 'It has no blocks.'
          : `It has ${plural(blocks, 'block')}, and gives each away when no reply is under way; \`${this.hint('nodes')}\` counts them.`;
      await this.say(isDraining ? `${id} is drained. ${left}` : `${id} takes blocks again.`);
    }
    return 'ok';
  }
}

type Named = readonly [ServerNode, ...ServerNode[]];

/** By its id, the beginning of it, or an address, which workers of one port share. */
function nodesNamed(nodes: readonly ServerNode[], wanted: string): Named {
  const exact = nodes.filter(({ id, url }) => id === wanted || url === wanted);
  const [node, ...others] = exact.length > 0 || wanted === '' ? exact : nodes.filter(({ id }) => id.startsWith(wanted));
  if (node === undefined) throw new CliError('usage', `No server is called "${wanted}".`);
  if (others.length > 0 && exact.length === 0) throw new CliError('usage', `"${wanted}" means ${plural(others.length + 1, 'server')}; write more of the id.`);
  return [node, ...others];
}

/** Prints `{halted, since, reason}`. */
export class HaltCommand extends ServerCommand {
  static override readonly paths = [['halt']];
  static override readonly usage = Command.Usage({
    category,
    description: 'The kill switch: no monitor calls a model until `unhalt`',
    details:
      'Ends replies that are being written, and keeps their text so far. Messages are still accepted and wait. The switch stays set after a restart of the server.',
    examples: [['With a reason', '$0 halt "wrong prompt in production"']],
  });

  reason = Option.String({ required: false, name: 'reason' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const state = await api.halt(this.reason);
      await this.print(state, []);
      await this.say(`${describe(state)} \`${this.hint('unhalt')}\` releases it.`);
      return 'ok';
    });
  }
}

/** Prints `{halted, since, reason}`. */
export class UnhaltCommand extends ServerCommand {
  static override readonly paths = [['unhalt']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Release the kill switch',
    examples: [['Release it', '$0 unhalt']],
  });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const state = await api.unhalt();
      await this.print(state, []);
      await this.say(describe(state));
      return 'ok';
    });
  }
}

function describe({ halted, since, reason }: HaltState): string {
  if (!halted) return 'The kill switch is released; started monitors continue.';
  return `Halted${since == null ? '' : ` (${relative(since, Date.now())})`}${reason == null || reason === '' ? '' : `: ${oneLine(reason)}`}; no monitor calls a model, and replies in progress are ended.`;
}
