// `blockhouse launch`: starts a program of somebody else with a key of its own and the variables that lead it to the server.
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { constants as system } from 'node:os';
import { basename, delimiter, join, resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import type { ModelResolved } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { endKey, type LaunchKey, RENEW_EVERY_MS, renewKey, takeKey } from '../client/launch-key.ts';
import { LimitsCommand } from '../command/limits-command.ts';
import { KNOWN_PROGRAMS, knownProgram, type Lead, leadOf, pastProxies, type Program } from '../input/programs.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { count, money, plural, spending } from '../terminal/format.ts';
import { oneLine } from '../terminal/output.ts';

/** The caps of a run where no option says otherwise. The second one also holds where a model has no known price. */
const USD_PER_DAY = 5;
const TOKENS_PER_DAY = 10_000_000;
/** A terminal sends the first two to the program as well. */
const OF_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];
const PASSED_ON: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP'];
/** What a shell adds to the number of the signal that has ended a program. */
const BY_SIGNAL = 128;

/** What is decided before a program starts. */
interface Plan {
  readonly key: LaunchKey;
  readonly lead: Lead;
}

/** What a program asks. */
interface Asked {
  /** Undefined for the names that it knows by itself. */
  readonly model: string | undefined;
  /** The blocks that its model means, which its key must have the right to. */
  readonly blocks: readonly string[];
}

/** The limits of a run. */
interface RunLimits {
  readonly usdPerDay: number | null;
  readonly tokensPerDay: number | null;
  readonly unpriced: 'allow' | 'refuse';
}

/** The output is that of the program; the remarks go to stderr. */
export class LaunchCommand extends LimitsCommand {
  static override readonly paths = [['launch']];
  static override readonly usage = Command.Usage({
    category: 'Clients',
    description: 'Start a coding agent or another program through Blockhouse',
    details: `
      The program gets the address of the running server, and a key of its own, which is revoked when it ends. Its settings are not touched: all is in its environment and its arguments,
      and its own options come after its name. It ends with the exit code of the program, and says on stderr what the run has cost.

      By default a run may spend 5 USD and 10,000,000 tokens a day, with what earlier runs of the same program have spent that day. The options for limits change that, and \`none\` lifts one.

      It knows claude, codex, opencode, aider and llm. Any other program gets the variables that the SDKs of OpenAI and Anthropic read. Without --model, a program asks the models that it knows,
      if one of your providers has them, and otherwise the default model of the first provider that is ready.
    `,
    examples: [
      ['Claude Code, with its own models or your default', '$0 launch claude'],
      ['Codex with a model of your choice', '$0 launch --model <provider>/<model> codex'],
      ['One task, with a smaller cap', '$0 launch --usd-per-day 1 claude -p "What does this project do?"'],
      ['Any program', '$0 launch --model <provider>/<model> -- node my-agent.js'],
      ['A program that sends one name and no other', '$0 launch --model <provider>/<model> --alias small-model -- ./my-agent'],
    ],
  });

  model = Option.String('-m,--model', { description: 'The model that it should ask: provider/model, or any name that the server knows' });
  alias = Option.Array('--alias', { description: 'A name that the program sends by itself; it becomes an alias of the model. May be repeated' });
  program = Option.String({ name: 'program' });
  args = Option.Proxy({ name: 'argument' });
  #code: number | undefined;

  override async execute(): Promise<number> {
    const code = await super.execute();
    return this.#code ?? code;
  }

  protected override async run(): Promise<ExitKind> {
    if (this.json) throw new CliError('usage', 'The output of launch is that of the program. `blockhouse costs --gateway --json` has what each key has cost.');
    const limits = this.#limits();
    const file = this.#file();
    this.#code = await this.#runChild(file, await this.#planned(limits));
    return 'ok';
  }

  /** The caps of the run. */
  #limits(): RunLimits {
    const given = this.limits();
    const { usdPerDay = USD_PER_DAY, tokensPerDay = TOKENS_PER_DAY } = given;
    const hasTokens = tokensPerDay !== null || given.tokensPerMonth != null;
    return { ...given, usdPerDay, tokensPerDay, unpriced: given.unpriced ?? (usdPerDay !== null && !hasTokens ? ('refuse' as const) : ('allow' as const)) };
  }

  /** The path of the program. Throws a CliError if it is not installed. */
  #file(): string {
    const { program } = this;
    if (process.platform === 'win32')
      throw new CliError('usage', 'launch does not run on Windows yet; docs/clients.md has the variables to set for each program, and WSL runs all of it.');
    const file = fileOf(program, this.context.env['PATH'] ?? '');
    if (file !== undefined) return file;
    const known = knownProgram(program);
    if (known !== undefined) throw new CliError('usage', `${program} is not installed. To install it: ${known.install}`);
    throw new CliError(
      'usage',
      oneLine(`There is no program ${program} on the PATH. Those that launch knows are ${KNOWN_PROGRAMS.join(', ')}; any other needs its command or path.`),
    );
  }

  async #planned(limits: RunLimits): Promise<Plan> {
    const plans: Plan[] = [];
    await this.withServer(async (api) => {
      const name = basename(this.program);
      const { model, blocks } = await this.#modelFor(api, knownProgram(name));
      const key = await takeKey(api, name, { ...limits, ...(blocks.length > 0 && { blocks }) });
      await this.#saySetup(api, key, model, limits);
      const { origin } = api.client.place.url;
      const lead = leadOf(name, { origin, key: key.key, model });
      plans.push({ key, lead: { ...lead, env: { ...lead.env, ...pastProxies(origin, this.context.env) } } });
      return 'ok';
    });
    return plans[0] as Plan;
  }

  async #saySetup(api: Api, { name }: LaunchKey, model: string | undefined, { usdPerDay, tokensPerDay }: RunLimits): Promise<void> {
    const caps = [...(usdPerDay === null ? [] : [money(usdPerDay)]), ...(tokensPerDay === null ? [] : [`${count(tokensPerDay)} tokens`])];
    const most = caps.length === 0 ? 'no cap by day' : `at most ${caps.join(' and ')} a day`;
    await this.say(oneLine(`launch: ${this.program} asks ${model ?? 'its own models'} at ${api.client.place.url.origin}, with ${most} (key ${name}).`));
    const spent = (await api.keys()).keys.find((one) => one.name === name)?.spentToday;
    if (spent === undefined) return;
    if ((usdPerDay !== null && spent.usd >= usdPerDay) || (tokensPerDay !== null && spent.tokens >= tokensPerDay))
      await this.say(
        `note: ${name} has spent that already today, ${money(spent.usd)} and ${count(spent.tokens)} tokens; --usd-per-day and --tokens-per-day allow more.`,
      );
  }

  /** What the program should ask; no model if it asks by names of its own. Makes the aliases that are needed. */
  async #modelFor(api: Api, program: Program | undefined): Promise<Asked> {
    const ready = await readyProviders(api);
    const aliases = [...(this.alias ?? []), ...(program?.needsAlias && this.model !== undefined && program.asks !== undefined ? [program.asks] : [])];
    if (this.model === undefined && aliases.length === 0) {
      const asked = program?.asks === undefined ? undefined : await resolved(api, program.asks);
      if (asked?.targets.some(({ adapter }) => ready.all.includes(adapter))) return { model: undefined, blocks: [] };
      if (program === undefined && ready.all.length > 0) return { model: undefined, blocks: [] };
    }
    const model = this.model ?? (await this.#defaultModel(api, ready.adapters));
    const meant = await api.resolveModel(model);
    const blocks = meant.targets.flatMap((target) => (target.adapter === 'block' ? [target.model] : []));
    for (const block of blocks) await api.details(block); // a name that no block has means one as well
    for (const name of program?.needsAlias && this.model === undefined && program.asks !== undefined ? [...aliases, program.asks] : aliases)
      await this.#makeAlias(api, name, meant, ready.all);
    return { model, blocks };
  }

  /** The default model of the first provider that is ready, or what it has instead. */
  async #defaultModel(api: Api, ready: readonly { readonly id: string; readonly defaultModel: string }[]): Promise<string> {
    for (const { id, defaultModel } of ready) {
      const { models } = await api.models(id);
      const model = models.find((one) => one === defaultModel) ?? models.find((one) => one.startsWith(`${defaultModel}:`)) ?? models[0];
      if (model !== undefined) return `${id}/${model}`;
    }
    throw new CliError(
      'credentials',
      `No provider is ready. \`${this.hint('providers')}\` says what is missing, and \`${this.hint('auth', 'set', '<id>')}\` stores a key.`,
    );
  }

  /** Lets `name` mean the model, unless it means one already that could be asked: other programs may rely on that. */
  async #makeAlias(api: Api, name: string, meant: ModelResolved, ready: readonly string[]): Promise<void> {
    const before = await resolved(api, name);
    const wanted = meant.targets.map(fullName);
    if (before !== undefined && before.targets.map(fullName).join() === wanted.join()) return;
    if (before !== undefined && (before.by === 'alias' || before.targets.some(({ adapter }) => ready.includes(adapter)))) {
      const old = before.targets.map(fullName).join(', then ');
      const cure = this.hint('alias', 'set', name, ...wanted);
      throw new CliError('usage', oneLine(`${name} means ${old} for every program. Leave out --model to ask that, or change it for all of them: \`${cure}\`.`));
    }
    await api.setAlias(name, { targets: wanted });
    await this.say(oneLine(`note: ${name} means ${wanted.join(', then ')} from now on, for every program; \`${this.hint('alias', 'rm', name)}\` removes it.`));
  }

  /** Runs the program to its end, and resolves with its exit code. */
  async #runChild(file: string, { key, lead }: Plan): Promise<number> {
    const renewal = setInterval(() => void this.#attempt((api) => renewKey(api, key)), RENEW_EVERY_MS).unref();
    const unpass: (() => void)[] = [];
    try {
      return await new Promise<number>((done, fail) => {
        // First: a program may say that it is ready before `spawn` returns, and the next signal is meant for it.
        unpass.push(passSignals((signal) => child.kill(signal)));
        const child = spawn(file, [...lead.args, ...this.args], { stdio: 'inherit', env: { ...this.context.env, ...lead.env } });
        child.once('error', (error) => fail(new CliError('place', oneLine(`${file} can't be started: ${error.message}.`), error)));
        child.once('exit', (code, signal) => done(code ?? BY_SIGNAL + (signal === null ? 0 : system.signals[signal])));
      });
    } finally {
      for (const end of unpass) end();
      clearInterval(renewal);
      const costs = await this.#attempt((api) => endKey(api, key));
      await this.say(
        costs === undefined
          ? `launch: what it has cost is not known, because the server does not answer. The key ${key.name} ends by itself within a day.`
          : `launch: ${plural(costs.calls, 'call')}, ${count(costs.input)} tokens in, ${count(costs.output)} out, ${spending(costs.calls === 0 ? 0 : costs.costUsd, costs.unpricedCalls)} (key ${key.name}, revoked).`,
      );
    }
  }

  /** What the server answers; undefined if it does not. */
  async #attempt<T>(work: (api: Api) => Promise<T>): Promise<T | undefined> {
    let result: T | undefined;
    try {
      await this.withServer(async (api) => {
        result = await work(api);
        return 'ok';
      });
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return undefined; // the program matters more than its bill
    }
    return result;
  }
}

const fullName = ({ adapter, model }: ModelResolved['targets'][number]): string => `${adapter}/${model}`;

/** What a name means; undefined if it means nothing. */
async function resolved(api: Api, name: string): Promise<ModelResolved | undefined> {
  try {
    return await api.resolveModel(name);
  } catch (error) {
    if (error instanceof CliError && error.body?.code === 'MODEL_NOT_FOUND') return undefined;
    throw error;
  }
}

/** The providers that can be asked now: the adapters, and the names of all. */
async function readyProviders(api: Api) {
  const [status, connections] = [await api.adapterStatus(), await api.connections()];
  const adapters = status.adapters.filter(({ ready }) => ready);
  const known = new Set(status.adapters.map(({ id }) => id));
  const others = connections.filter(({ name, ready }) => ready && !known.has(name)).map(({ name }) => name);
  return { adapters, all: [...adapters.map(({ id }) => id), ...others] };
}

/** Where a shell would find the program; undefined if it would not. */
function fileOf(program: string, path: string): string | undefined {
  const places = program.includes('/')
    ? [resolve(program)]
    : path
        .split(delimiter)
        .filter((folder) => folder !== '')
        .map((folder) => join(folder, program));
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return statSync(place).isFile();
    } catch (error) {
      if (error instanceof Error && 'code' in error) return false; // not here, or not for us
      throw error;
    }
  });
}

/** Passes on the signals that this process gets, except for those that a terminal sends to both. Returns the end of that. */
function passSignals(pass: (signal: NodeJS.Signals) => void): () => void {
  const take = (signal: NodeJS.Signals): void => {
    const isOfTerminal = OF_TERMINAL.includes(signal) && [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
    if (!isOfTerminal) pass(signal);
  };
  const signals = [...OF_TERMINAL, ...PASSED_ON];
  for (const signal of signals) process.on(signal, take);
  return () => {
    for (const signal of signals) process.off(signal, take);
  };
}
