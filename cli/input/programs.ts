// The programs that `launch` knows: which variables and arguments lead each of them to a server, and how it is installed. Pure: no I/O.
//
// no-settings-written: a program is led by its environment and its arguments alone, so that it is as before when it is started without `launch`.
// past-proxies: programs send what goes to this machine to a proxy, too, unless it is named in NO_PROXY. With the key, the proxy would have all that the program asks.
// no-other-key: variables that would send a program elsewhere, or send the key of a provider here, are left out of its environment.

/** Where a program is led. */
export interface Target {
  /** The origin of the server, such as http://127.0.0.1:8420. */
  readonly origin: string;
  readonly key: string;
  /** What it should ask; undefined where it has names of its own that lead somewhere. */
  readonly model: string | undefined;
}

/** What is added to the start of a program. A variable that is undefined is left out. */
export interface Lead {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Before the arguments of the person. */
  readonly args: readonly string[];
}

/** A program that `launch` knows. */
export interface Program {
  /** The command that installs it. */
  readonly install: string;
  /** A name of a model that it asks by itself; absent for one that must be given a model. */
  readonly asks?: string;
  /** True if it takes no name but those that it knows, so that `asks` must be an alias of another model. */
  readonly needsAlias?: true;
  lead(target: Target): Lead;
}

const openaiEnv = ({ origin, key }: Target) => ({ OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_BASE: `${origin}/v1`, OPENAI_API_KEY: key });
const anthropicEnv = ({ origin, key }: Target) => ({ ANTHROPIC_BASE_URL: origin, ANTHROPIC_AUTH_TOKEN: key });

/** By the name of their command. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  claude: {
    install: 'npm install -g @anthropic-ai/claude-code',
    asks: 'claude-sonnet-5',
    lead: (target) => ({
      env: {
        ...anthropicEnv(target),
        ANTHROPIC_API_KEY: undefined, // no-other-key: it would be taken in place of the token
        CLAUDE_CODE_USE_BEDROCK: undefined,
        CLAUDE_CODE_USE_VERTEX: undefined,
        CLAUDE_CODE_USE_FOUNDRY: undefined,
        ...inEach(target.model, [
          'ANTHROPIC_MODEL',
          'ANTHROPIC_DEFAULT_OPUS_MODEL',
          'ANTHROPIC_DEFAULT_SONNET_MODEL',
          'ANTHROPIC_DEFAULT_HAIKU_MODEL',
          'CLAUDE_CODE_SUBAGENT_MODEL',
        ]),
      },
      args: [],
    }),
  },
  codex: {
    install: 'npm install -g @openai/codex',
    asks: 'gpt-5-codex',
    lead: (target) => ({
      env: openaiEnv(target),
      args: [
        ...['-c', 'model_provider="blockhouse"'],
        ...['-c', `model_providers.blockhouse={name="Blockhouse",base_url="${target.origin}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}`],
        ...(target.model === undefined ? [] : ['-c', `model=${JSON.stringify(target.model)}`]),
      ],
    }),
  },
  opencode: {
    install: 'npm install -g opencode-ai',
    lead: (target) => ({ env: { ...openaiEnv(target), OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeSettings(target)) }, args: [] }),
  },
  aider: {
    install: 'python3 -m pip install aider-install && aider-install',
    // It chooses by the keys that it finds, so it is always given a model; the prefix is its own and says which protocol it should speak.
    lead: (target) => ({ env: { ...openaiEnv(target), ...inEach(target.model && `openai/${target.model}`, ['AIDER_MODEL', 'AIDER_WEAK_MODEL']) }, args: [] }),
  },
  llm: {
    install: 'python3 -m pip install llm',
    asks: 'gpt-4o-mini',
    needsAlias: true,
    lead: (target) => ({ env: { ...openaiEnv(target), ...inEach(target.model && 'gpt-4o-mini', ['LLM_MODEL']) }, args: [] }),
  },
};

/** Any other program, by the variables that the SDKs of both protocols read. */
const ANY: Pick<Program, 'lead'> = {
  lead: (target) => ({
    env: { ...openaiEnv(target), ...anthropicEnv(target), ANTHROPIC_API_KEY: target.key, ...inEach(target.model, ['OPENAI_MODEL', 'ANTHROPIC_MODEL']) },
    args: [],
  }),
};

/** The names of the programs that are known. */
export const KNOWN_PROGRAMS: readonly string[] = Object.keys(PROGRAMS);

/** The program with this command; undefined if it is not known. */
export function knownProgram(command: string): Program | undefined {
  return Object.hasOwn(PROGRAMS, command) ? PROGRAMS[command] : undefined;
}

/** What leads this command to a server. */
export function leadOf(command: string, target: Target): Lead {
  return (knownProgram(command) ?? ANY).lead(target);
}

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);

/** past-proxies. Nothing where no proxy is set. */
export function pastProxies(origin: string, env: Readonly<Record<string, string | undefined>>): Lead['env'] {
  if (PROXIES.every((name) => (env[name] ?? '') === '')) return {};
  const { hostname } = new URL(origin);
  const hosts = hostname.startsWith('[') ? [hostname.slice(1, -1), hostname] : [hostname];
  const withHosts = (list: string): string => {
    const named = list.split(',').map((host) => host.trim());
    return named.includes('*') ? list : [...(list === '' ? [] : [list]), ...hosts.filter((host) => !named.includes(host))].join(',');
  };
  const { NO_PROXY: upper, no_proxy: lower } = env;
  return { NO_PROXY: withHosts(upper ?? lower ?? ''), no_proxy: withHosts(lower ?? upper ?? '') }; // programs read them in either case
}

function inEach(value: string | undefined, names: readonly string[]): Record<string, string> {
  return value === undefined ? {} : Object.fromEntries(names.map((name) => [name, value]));
}

/** It merges them with those of its files. */
function opencodeSettings({ origin, model = '' }: Target) {
  const options = { baseURL: `${origin}/v1`, apiKey: '{env:OPENAI_API_KEY}' };
  const provider = { npm: '@ai-sdk/openai-compatible', name: 'Blockhouse', options, models: { [model]: { name: model } } };
  return { provider: { blockhouse: provider }, model: `blockhouse/${model}`, small_model: `blockhouse/${model}` };
}
