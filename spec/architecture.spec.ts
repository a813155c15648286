import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, resolve } from 'node:path';
import t from 'tap';
import { MODULES } from '../cli/checks.ts';
import { hasSharedSpec } from './support/coverage/map.ts';
import { PAGE_IDS } from './support/page-paths.ts';
import { CLI_ROOMS, CORE_ROOMS, FILE_STORE_USERS, HTTP_ROOMS, type Room } from './support/rooms.ts';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDERS = ['core', 'adapters', 'transports', 'cli'];

interface Import {
  /** Path from the root for our own files, the bare name for packages. */
  readonly target: string;
  readonly own: boolean;
}

interface Source {
  readonly path: string;
  readonly text: string;
  /** The text without comments. */
  readonly code: string;
  readonly imports: readonly Import[];
}

function sourcesBelow(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .map((path) => join(folder, path));
}

const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[dgimsuvy]*(?=\s*[.,;)\]])/g;

/** Strings, templates and regular expressions are stepped over, so that a `//` inside one is no comment. */
function withoutComments(text: string): string {
  return text.replace(TOKEN, (token) => (token.startsWith('//') || token.startsWith('/*') ? ' ' : token));
}

function importsOf(path: string, code: string): Import[] {
  const statements = code.matchAll(/(?:(?<!')\bfrom\s*|\bimport\s*\(\s*|^\s*import\s*)'([^']+)'/gm);
  return [...statements].map(([, specifier = '']) => {
    const own = specifier.startsWith('.');
    return { own, target: own ? normalize(join(dirname(path), specifier)) : specifier };
  });
}

function sourceOf(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const code = withoutComments(text);
  return { path, text, code, imports: importsOf(path, code) };
}

/** The page runs in a browser: rules of its own hold for it. */
const PAGE = 'transports/dashboard';
/** They bundle the program and the page, and are no part of either. */
const BUILD_SCRIPTS = [
  'cli/build.ts',
  'cli/build-checks.ts',
  'cli/checks.ts',
  'cli/vendor.ts',
  'transports/dashboard/build.ts',
  'transports/dashboard/licences.ts',
];
const PAGE_IN_NODE = [...BUILD_SCRIPTS, 'transports/dashboard/url.ts'];
const SOURCES: readonly Source[] = FOLDERS.flatMap(sourcesBelow)
  .filter((path) => !path.startsWith(`${PAGE}/`) && !BUILD_SCRIPTS.includes(path))
  .map(sourceOf);
const PAGE_SOURCES: readonly Source[] = readdirSync(join(ROOT, PAGE), { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => join(PAGE, path))
  .filter((path) => !PAGE_IN_NODE.includes(path))
  .map(sourceOf);

const adapterIds = readdirSync(join(ROOT, 'adapters'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['shared', 'outbound', 'tools'].includes(entry.name))
  .map((entry) => entry.name);

function inFolder(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

interface Rule {
  readonly title: string;
  readonly from: (path: string) => boolean;
  /** Undefined for an import that is allowed, otherwise what is wrong with it. */
  readonly allows: (target: Import, from: string) => boolean;
}

const packageName = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
const CORE_PACKAGES = ['ajv', 'mitt', 'p-queue', 'xstate', 'chokidar', 'pino', '@pydantic/genai-prices', 'modern-tar', 'pg', 'croner'];
const CORE_BUILTINS = [
  'node:buffer',
  'node:crypto',
  'node:fs',
  'node:fs/promises',
  'node:path',
  'node:os',
  'node:net',
  'node:events',
  'node:timers/promises',
  'node:util',
  'node:url',
  'node:process',
  'node:module',
  'node:zlib',
];
/** What one file of the core imports besides: keys that a program prints. */
const ALSO_IN: Readonly<Record<string, string>> = { 'core/auth/key-command.ts': 'node:child_process' };
/** They know the server's routes, and load nothing of the server. */
const CLIENT_OF_ROUTES = ['cli/client/api.ts', 'cli/client/routes.ts', 'cli/client/skills-api.ts', 'cli/client/tool-sign-in.ts'];
const transportOf = (path: string): string => path.split('/')[1] ?? '';
/** What several transports need lies directly in transports/. */
const isTransportHelper = (path: string): boolean => inFolder(path, 'transports') && path.split('/').length === 2;

/** The core from outside: its index, and what knows no product. */
const isCoreIndex = (path: string): boolean => path === 'core/index.ts' || inFolder(path, 'core/base');
const DIALECTS = 'transports/http/dialects';

/** The composition root, and what it loads for a server. */
const COMPOSITION = ['cli/compose.ts', 'cli/copy-parts.ts', 'cli/lazy-tools.ts', 'cli/server-parts.ts'];
const RULES: readonly Rule[] = [
  {
    title: 'the core imports itself and what a product without transports needs',
    from: (path) => inFolder(path, 'core'),
    allows: ({ own, target }, from) =>
      own
        ? inFolder(target, 'core')
        : target.startsWith('node:')
          ? CORE_BUILTINS.includes(target) || target === ALSO_IN[from]
          : CORE_PACKAGES.includes(packageName(target)),
  },
  {
    title: 'an adapter imports its own folder, the helpers of adapters, the HTTP client, and the core by its index',
    from: (path) => adapterIds.some((id) => inFolder(path, `adapters/${id}`)),
    allows: ({ own, target }, from) =>
      !own || isCoreIndex(target) || inFolder(target, dirname(from)) || inFolder(target, 'adapters/shared') || inFolder(target, 'adapters/outbound'),
  },
  {
    title: 'the helpers of adapters import no adapter; only their list does',
    from: (path) => inFolder(path, 'adapters/shared') || path === 'adapters/stand-in.ts',
    allows: ({ own, target }) => !own || isCoreIndex(target) || inFolder(target, 'adapters/shared') || inFolder(target, 'adapters/outbound'),
  },
  {
    title: 'what runs tools imports its own folder, the HTTP client, and the core by its index',
    from: (path) => inFolder(path, 'adapters/tools'),
    allows: ({ own, target }) => !own || isCoreIndex(target) || inFolder(target, 'adapters/tools') || inFolder(target, 'adapters/outbound'),
  },
  {
    title: 'the HTTP client knows no adapter',
    from: (path) => inFolder(path, 'adapters/outbound'),
    allows: ({ own, target }) => !own || isCoreIndex(target) || inFolder(target, 'adapters/outbound'),
  },
  {
    title: 'the list of adapters imports their indexes, the echo provider, and what sends notices',
    from: (path) => path === 'adapters/index.ts',
    allows: ({ own, target }) =>
      own &&
      (target === 'core/index.ts' ||
        target === 'adapters/stand-in.ts' ||
        target === 'adapters/outbound/notice-sender.ts' ||
        /^adapters\/[^/]+\/index\.ts$/.test(target)),
  },
  {
    title: 'a dialect imports its own folder, the helpers beside it, and the core by its index, and is pure',
    from: (path) => inFolder(path, DIALECTS),
    allows: ({ own, target }, from) =>
      own ? isCoreIndex(target) || inFolder(target, dirname(from)) || inFolder(target, `${DIALECTS}/shared`) : target === 'node:crypto',
  },
  {
    title: 'a transport imports itself, the helpers beside it, and the core by its index; its main also the composition root',
    from: (path) => inFolder(path, 'transports') && !isTransportHelper(path),
    allows: ({ own, target }, from) =>
      !own ||
      isCoreIndex(target) ||
      isTransportHelper(target) ||
      inFolder(target, `transports/${transportOf(from)}`) ||
      // What is exported is what is counted.
      (transportOf(from) === 'telemetry' && inFolder(target, 'transports/metrics')) ||
      (target === 'cli/compose.ts' && from === `transports/${transportOf(from)}/main.ts`),
  },
  {
    title: 'the helpers of the transports import no transport',
    from: isTransportHelper,
    allows: ({ own, target }) => !own || isCoreIndex(target) || isTransportHelper(target),
  },
  {
    title: 'the commands import the core by its index, the CLI, and no adapter and no transport; the client also the route table',
    from: (path) => inFolder(path, 'cli') && !COMPOSITION.includes(path),
    allows: ({ own, target }, from) =>
      !own ||
      isCoreIndex(target) ||
      target === 'core/client-parts.ts' ||
      inFolder(target, 'cli') ||
      (target === 'transports/http/routes.ts' && CLIENT_OF_ROUTES.includes(from)),
  },
  {
    title: 'the composition root imports indexes',
    from: (path) => COMPOSITION.includes(path),
    // The copy and what sends to a collector are no part of what programs import, so they are in no index.
    allows: ({ own, target }, from) =>
      !own ||
      inFolder(target, 'cli') ||
      /^(core|adapters|adapters\/tools|transports\/[^/]+)\/index\.ts$/.test(target) ||
      (from === 'cli/copy-parts.ts' && inFolder(target, 'core/store')) ||
      (from === 'cli/compose.ts' && target === 'adapters/outbound/collector-sender.ts'),
  },
];

for (const { title, from, allows } of RULES) {
  t.test(title, async (t) => {
    const files = SOURCES.filter(({ path }) => from(path));
    t.ok(files.length > 0, 'the rule has files to judge');
    for (const { path, imports } of files) {
      const wrong = imports.filter((target) => !allows(target, path)).map(({ target }) => target);
      t.strictSame(wrong, [], path);
    }
  });
}

/** The room that a file lies in: the one whose entry is the longest beginning of its path. */
function roomOf(rooms: readonly Room[], path: string): Room | undefined {
  const fit = ({ holds }: Room): number =>
    Math.max(0, ...holds.filter((place) => path === place || (place.endsWith('/') && path.startsWith(place))).map((place) => place.length));
  const best = [...rooms].sort((a, b) => fit(b) - fit(a))[0];
  return best !== undefined && fit(best) > 0 ? best : undefined;
}

for (const [title, rooms, folder] of [
  ['core', CORE_ROOMS, 'core'],
  ['commands', CLI_ROOMS, 'cli'],
  ['HTTP transport', HTTP_ROOMS, 'transports/http'],
] as const) {
  t.test(`the rooms of the ${title} import what their table allows, which has no circle`, async (t) => {
    for (const [index, { name, imports }] of rooms.entries()) {
      const above = rooms.slice(0, index).map((room) => room.name);
      t.strictSame(
        imports.filter((other) => !above.includes(other)),
        [],
        `${name} imports rooms above it alone`,
      );
    }
    const seen = new Set<string>();
    for (const { path, imports } of SOURCES.filter(({ path }) => inFolder(path, folder))) {
      const room = roomOf(rooms, path);
      const others = imports.filter(({ own }) => own).map(({ target }) => roomOf(rooms, target));
      for (const other of others) if (other !== undefined && other !== room) seen.add(`${room?.name} -> ${other.name}`);
      const wrong = others.filter((other) => other !== undefined && other !== room && !room?.imports.includes(other.name)).map((other) => other?.name);
      t.strictSame(wrong, [], path);
    }
    const unused = rooms.flatMap(({ name, imports }) => imports.filter((other) => !seen.has(`${name} -> ${other}`)).map((other) => `${name} -> ${other}`));
    t.strictSame(unused, [], 'the table allows no more than is used');
  });
}

t.test('the core knows a store by its port, and the file store only where the core is put together', async (t) => {
  const users = SOURCES.filter(({ path, imports }) => !inFolder(path, 'core/store') && imports.some(({ target }) => inFolder(target, 'core/store/files')));
  t.strictSame(users.map(({ path }) => path).sort(), Object.keys(FILE_STORE_USERS).sort(), 'a file that needs it no longer leaves the list');
});

t.test('only the file store of the core touches files, and what opens sockets and processes has its room', async (t) => {
  const homes: [name: RegExp, homes: readonly string[]][] = [
    // The doctor looks at whatever lies in a workspace, also where no store can read it. Linux tells the owner of a socket in /proc.
    [/^node:fs(?:\/promises)?$/, ['core/store/files/', 'core/block/doctor', 'core/auth/socket-owner.ts']],
    [/^node:(?:net|tls|dns)$/, ['core/gateway/egress.ts', 'core/auth/socket-owner.ts']],
    [/^node:child_process$/, ['core/auth/key-command.ts']],
  ];
  for (const [name, places] of homes) {
    const users = SOURCES.filter(({ path, imports }) => inFolder(path, 'core') && imports.some(({ own, target }) => !own && name.test(target)));
    t.strictSame(
      users.map(({ path }) => path).filter((path) => !places.some((place) => path.startsWith(place))),
      [],
      String(name),
    );
  }
});

t.test('a file above 400 lines says why here', async (t) => {
  // core/types.ts is generated.
  const long = [...SOURCES, ...PAGE_SOURCES].filter(({ path, text }) => path !== 'core/types.ts' && text.split('\n').length > 401).map(({ path }) => path);
  t.strictSame(long, ['core/errors.ts'], 'core/errors.ts is the table of all error codes, a row for each');
});

t.test('the page imports itself, types of the contract, and the packages that the build puts into its scripts', async (t) => {
  const packages = ['preact', '@preact/signals', 'marked'];
  for (const { path, imports, code } of PAGE_SOURCES) {
    const wrong = imports.filter(({ own, target }) => (own ? !inFolder(target, PAGE) && target !== 'core/types.ts' : !packages.includes(packageName(target))));
    t.strictSame(wrong, [], path);
    t.notMatch(code.replace(/^import type [^;]*;$/gm, ''), /core\/types\.ts/, `${path}: types only`);
    const missing = imports.filter(({ own, target }) => own && !existsSync(join(ROOT, target))).map(({ target }) => target);
    t.strictSame(missing, [], path);
  }
  t.strictSame(
    SOURCES.filter(({ imports }) => imports.some(({ target }) => inFolder(target, PAGE))).map(({ path }) => path),
    [],
    'nothing imports the page',
  );
});

/** The rooms of the page, ground first: each may import itself and those before it. */
const PAGE_ROOMS = ['base', 'data', 'text', 'parts', 'actions', 'pages', 'app'];
/** Functions that have more than 60 lines, and why. */
const LONG_FUNCTIONS: Readonly<Record<string, string>> = {
  'core/block/actor/machine.ts createBlockMachine': 'a literal: the states of a block',
  'core/block/actor/monitor-region.ts monitorRegion': 'a literal: the states of a monitor',
  'core/block/reply/reply-machine.ts createReplyMachine': 'a literal: the states of a reply',
  'core/block/actor/setup.ts setUpMachine': 'a literal: the guards, actions and actors of the machine by name',
  'core/block/blocks.ts createWorkspaceBlocks': 'puts the parts of the blocks together and decides nothing',
  'core/block/operations-monitor.ts monitorOperations': 'an object of short methods that share what they get',
  'core/runtime.ts assemble': 'puts the core together and decides nothing',
  'transports/asyncapi.ts asyncApiDocument': 'a literal: the document',
};

t.test('a room of the page imports itself and the rooms below it, and no page imports another', async (t) => {
  const roomOf = (path: string): string => path.slice(PAGE.length + 1).split('/')[0] ?? '';
  /** `pages/fleet/`; of a block, each tab has a folder of its own, and `pages/block/` itself has what they share. */
  const pageOf = (path: string): string => /\/pages\/(?:block\/[^/]+|[^/]+)\//.exec(path)?.[0] ?? '';
  for (const { path, imports } of PAGE_SOURCES) {
    const room = PAGE_ROOMS.indexOf(roomOf(path));
    t.not(room, -1, `${path} lies in a room`);
    const own = imports.filter((each) => each.own && inFolder(each.target, PAGE)).map(({ target }) => target);
    const wrong = own.filter((target) => PAGE_ROOMS.indexOf(roomOf(target)) > room);
    const sideways = own.filter((target) => roomOf(path) === 'pages' && roomOf(target) === 'pages' && !path.startsWith(`${PAGE}${pageOf(target)}`));
    const isShared = (target: string): boolean => /\/pages\/block\/[^/]+$/.test(target) && path.includes('/pages/block/');
    t.strictSame([...wrong, ...(path.endsWith('/pages/block/block.tsx') ? [] : sideways.filter((target) => !isShared(target)))], [], path);
    if (roomOf(path) === 'base')
      t.strictSame(
        imports.filter(({ target }) => target === 'core/types.ts'),
        [],
        `${path} knows no product`,
      );
  }
});

/** The first circle of imports, types included; empty if there is none. */
function circleIn(sources: readonly Source[]): readonly string[] {
  const imports = new Map(sources.map(({ path, imports }) => [path, imports.filter(({ own }) => own).map(({ target }) => target)]));
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): readonly string[] => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (done.has(path)) return [];
    done.add(path);
    for (const target of imports.get(path) ?? []) {
      const circle = visit(target, [...way, path]);
      if (circle.length > 0) return circle;
    }
    return [];
  };
  return sources.map(({ path }) => visit(path, [])).find((circle) => circle.length > 0) ?? [];
}

t.test('no files import each other in a circle, types included', async (t) => {
  t.strictSame(circleIn([...SOURCES, ...PAGE_SOURCES]), []);
  const source = (path: string, ...targets: string[]): Source => ({ path, text: '', code: '', imports: targets.map((target) => ({ target, own: true })) });
  t.strictSame(circleIn([source('a', 'b'), source('b', 'c', 'd'), source('c'), source('d', 'b')]), ['b', 'd', 'b']);
});

/** The functions of a formatted file that have a name, with their lengths: each ends at the first brace that stands as far in as its beginning. */
function functionsOf(text: string): readonly { readonly name: string; readonly length: number }[] {
  const lines = text.split('\n');
  const begin =
    /^(\s*)(?:export |default |async |static |override |readonly |get )*(?:function (\w+)|(?!if|for|while|switch|catch)(#?\w+)\(.*\)(?:: .*)? \{$|(?:const )?(#?\w+)(?: =|:).*=> \{$)/;
  return lines.flatMap((line, at) => {
    const [, indent = '', ...names] = begin.exec(line) ?? [undefined];
    const name = names.find((each) => each !== undefined);
    const end = lines.findIndex((each, index) => index > at && each.startsWith(indent) && /^\}[;,)]*$/.test(each.slice(indent.length)));
    return name === undefined ? [] : [{ name, length: end - at + 1 }];
  });
}

t.test('a function has at most 60 lines, or a line here that says why not', async (t) => {
  const long = [...SOURCES, ...PAGE_SOURCES].flatMap(({ path, text }) =>
    functionsOf(text).flatMap(({ name, length }) => (length > 60 ? [`${path} ${name}`] : [])),
  );
  t.strictSame(long.sort(), Object.keys(LONG_FUNCTIONS).sort());
  t.ok(PAGE_SOURCES.flatMap(({ text }) => functionsOf(text)).length > 500, 'the functions are seen');
});

t.test('every address of a page that the page leads to is in its table', async (t) => {
  t.ok(PAGE_IDS.length > 5);
  const named = PAGE_SOURCES.flatMap(({ code }) => [...code.matchAll(/\bpathOf\('([^']*)'/g)].map(([, id = '']) => id));
  t.strictSame(
    [...new Set(named)].filter((id) => !PAGE_IDS.includes(id)),
    [],
  );
});

t.test('the page makes no HTML, code or style from a text', async (t) => {
  const forbidden =
    /\b(?:innerHTML|outerHTML|insertAdjacentHTML|srcdoc|createContextualFragment|dangerouslySetInnerHTML|DOMParser|cssText)\b|document\.write|\beval\(|new Function|setAttribute\('style'/;
  for (const { path, code } of PAGE_SOURCES) t.notMatch(code, forbidden, path);
  for (const { path, text } of PAGE_SOURCES) t.match(text, /^\/\/ \S.{9,}/, `${path} opens with what it is`);
});

t.test('every word of the page stands in its texts', async (t) => {
  const words = [
    />[^\S\n]*[A-Za-z][^<>{}=;]*<\//, // between two tags
    /^\s+[A-Z][a-z]+(?: [A-Za-z,.’]+)*$/m, // on a line of its own between two tags
    /\b(?:aria-label|title|placeholder|label|alt)="[^"]*[A-Za-z]/,
    /\b(?:does|label): '/,
  ];
  for (const { path, code } of PAGE_SOURCES) {
    if (path.includes('/dashboard/text/') || !path.endsWith('.tsx')) continue;
    for (const each of words) t.notMatch(code, each, path);
  }
});

t.test('the client of the CLI knows the route table by its types alone', async (t) => {
  for (const { path, code } of SOURCES.filter(({ path }) => CLIENT_OF_ROUTES.includes(path))) {
    t.match(code, /^import type [^;]*transports\/http\/routes\.ts';$/m, path);
    t.notMatch(code.replace(/^import type [^;]*;$/gm, ''), 'transports/', path);
  }
});

t.test('only their own layer imports these packages', async (t) => {
  const homes: [name: RegExp, folders: string[]][] = [
    [/^@(aws|smithy)/, ['adapters/bedrock']],
    [/^pg$/, ['core/store/postgres']],
    [/^croner$/, ['core/schedule/occurrences.ts']],
    [/^@modelcontextprotocol/, ['adapters/tools', 'transports/http/mcp.ts']],
    [/^ws$/, ['transports', 'cli/client/socket.ts']],
    [/^(clipanion|typanion)$/, ['cli']],
    [/^node:(http|https|http2|tls)$/, ['transports', 'adapters', 'cli']],
  ];
  for (const [name, folders] of homes) {
    const users = SOURCES.filter(({ imports }) => imports.some(({ own, target }) => !own && name.test(target))).map(({ path }) => path);
    t.strictSame(
      users.filter((path) => !folders.some((folder) => path === folder || inFolder(path, folder))),
      [],
      String(name),
    );
  }
});

t.test('every import of our own files exists and is written with its extension', async (t) => {
  for (const { path, imports } of SOURCES) {
    const missing = imports.filter(({ own, target }) => own && !(target.endsWith('.ts') && existsSync(join(ROOT, target)))).map(({ target }) => target);
    t.strictSame(missing, [], path);
  }
});

t.test('every adapter has the same six files', async (t) => {
  t.ok(adapterIds.length > 0);
  for (const id of adapterIds) {
    for (const name of ['index', 'request', 'response', 'stream', 'errors', 'schema'])
      t.ok(existsSync(join(ROOT, 'adapters', id, `${name}.ts`)), `adapters/${id}/${name}.ts`);
  }
});

/** A dialect has the name of the protocol that it speaks. */
const isOfDialect = (path: string): boolean => inFolder(path, DIALECTS) || /^transports\/http\/(routes|handlers)\/compatible-/.test(path);

t.test('no provider has a name outside adapters/', async (t) => {
  // Descriptions speak to people and name providers; so do comments. A name in any other place is knowledge of a provider.
  const names = [...new Set(['openai', 'anthropic', 'google', 'gemini', 'bedrock', 'ollama', 'claude', ...adapterIds])];
  const pattern = new RegExp(`(?<![A-Za-z])(?:${names.join('|')})(?![a-z])`, 'i');
  const camel = new RegExp(`[a-z](?:${names.map((name) => name[0]?.toUpperCase() + name.slice(1)).join('|')})(?![a-z])`);
  // The names of a network's metadata service are addresses to keep away from.
  const addresses = /'[\w.-]+\.internal'/g;
  // The second port has the name of the protocol that it is for, and people are told which it is.
  const port = /Ollama's API|--ollama-port|'ollama-port'|BLOCKHOUSE_OLLAMA_PORT|\bollama(?:Port|Url)\b/g;
  const prose = /\bdescription:\s*(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`)|\b(?:secret|count|freeForm)\(\s*'(?:\\.|[^'\\])*'/g;
  // The type that lets editors complete the ids, which a test compares with the adapters; and the examples of the published contract.
  const lists = [
    'core/adapter-id.ts',
    'transports/http/openapi/examples-blocks.ts',
    'transports/http/openapi/examples-gateway.ts',
    'transports/http/openapi/examples-clients.ts',
    // Programs of others, whose variables have the names of the protocols that they speak.
    'cli/input/programs.ts',
    'cli/commands/launch.ts',
  ];
  for (const { path, code } of SOURCES.filter(({ path }) => !inFolder(path, 'adapters') && !isOfDialect(path) && !lists.includes(path))) {
    const named = code
      .replace(prose, '')
      .replace(port, '')
      .replace(addresses, '')
      .split('\n')
      .filter((line) => pattern.test(line) || camel.test(line))
      .map((line) => line.trim());
    t.strictSame(named, [], path);
  }
});

t.test('a dialect names no provider but the one whose protocol it is, and an adapter names no dialect', async (t) => {
  const dialects: [path: RegExp, own: readonly string[]][] = [
    [/\/dialects\/anthropic\//, ['anthropic']],
    [/\/dialects\/ollama\//, ['ollama']],
    [/\/dialects\/openai-/, ['openai']],
    // What both protocols of one provider share.
    [/\/dialects\/shared\//, ['openai']],
  ];
  const ids = [...new Set(dialects.flatMap(([, own]) => own)), ...adapterIds, 'gemini', 'claude'];
  for (const { path, code } of SOURCES.filter(({ path }) => inFolder(path, DIALECTS))) {
    const own = dialects.find(([of]) => of.test(path))?.[1] ?? [];
    const others = [...new Set(ids)].filter((id) => !own.includes(id));
    // A helper beside the dialects may have the name of the protocol that it came from; a header of a protocol has its own name.
    const text = code.replace(/^import [^;]*;$/gm, '').replace(/'x-anthropic-billing-header:'/g, '');
    t.strictSame(
      others.filter((id) => new RegExp(`(?<![A-Za-z])${id}(?![a-z])`, 'i').test(text)),
      [],
      path,
    );
  }
  const dialectIds = readdirSync(join(ROOT, DIALECTS), { withFileTypes: true }).flatMap(({ name }) => (name === 'shared' ? [] : [name]));
  t.ok(dialectIds.length > 0);
  for (const { path, code } of SOURCES.filter(({ path }) => inFolder(path, 'adapters'))) {
    // A provider may have the name of its protocol.
    const named = dialectIds.filter((id) => !adapterIds.includes(id)).filter((id) => code.includes(id));
    t.strictSame([...named, ...(/\bdialects?\b/i.test(code) ? ['dialect'] : [])], [], path);
  }
});

t.test('the build makes the checks of all schemas: what it loads leads to every file with a validator', async (t) => {
  const reached = new Set(MODULES);
  for (const path of reached) for (const { own, target } of SOURCES.find((source) => source.path === path)?.imports ?? []) if (own) reached.add(target);
  const users = SOURCES.filter(({ path, code }) => /\bcompile(?:<\w+>)?\(\w/.test(code) && !path.startsWith('core/schemas/')).map(({ path }) => path);
  t.ok(users.length > 30, `${users.length} files`);
  t.strictSame(
    users.filter((path) => !reached.has(path)),
    [],
  );
});

t.test('each of these belongs to the one file that owns it', async (t) => {
  const owned: [what: string, pattern: RegExp, owners: RegExp][] = [
    [
      'process.env',
      /\bprocess\s*(?:\.\s*env\b|\[\s*'env'\s*\])|\benv\b[^}]*\}\s*(?:from 'node:process'|= process\b)/,
      /^(cli\/compose|cli\/serve\/place|core\/runtime|core\/store\/files\/system-watch)\.ts$/,
    ],
    ['JSON.parse', /\bJSON\s*\.\s*parse\b/, /^core\/base\/json\.ts$/],
    ['URL.canParse', /\bURL\s*\.\s*canParse\b/, /^$/],
    ['AbortSignal.timeout, which AbortSignal.any forgets', /\bAbortSignal\s*\.\s*timeout\b/, /^core\/base\/abort\.ts$/],
    ['console', /\bconsole\s*\./, /^$/],
    ['fetch', /(?<![.\w])fetch\(/, /^$/],
    ['an empty catch', /\bcatch\s*(?:\([^)]*\)\s*)?\{\s*\}/, /^$/],
    ['a catch that swallows a promise', /\.catch\(\s*\(\)\s*=>\s*\{\s*\}\s*\)/, /^$/],
    ['any', /[:<]\s*any\b|\bas any\b/, /^$/],
  ];
  for (const [what, pattern, owners] of owned) {
    const users = SOURCES.filter(({ path, code }) => pattern.test(code) && !owners.test(path)).map(({ path }) => path);
    t.strictSame(users, [], what);
  }
});

t.test('each source file opens with what it is', async (t) => {
  for (const { path, text } of SOURCES) t.match(text.replace(/^#!.*\n/, ''), /^\/\/ \S.{9,}/, path);
});

/** Types leave nothing behind at run time, and so nothing to test. */
function hasRunTimeCode(code: string): boolean {
  const rest = code
    .replace(/^import type [^;]*;/gm, '')
    .replace(/^export type \{[^}]*\}[^;]*;/gm, '')
    .replace(/^export \{[^}]*\} from [^;]*;/gm, '')
    .replace(/^import \{\s*(?:type \w+(?: as \w+)?,?\s*)+\}[^;]*;/gm, '');
  return rest
    .split(/\n(?=\S)/)
    .map((statement) => statement.trim())
    .some((statement) => statement !== '' && !/^(?:export )?(?:declare )?(?:interface|type)\b/.test(statement) && !/^[}|)&]/.test(statement));
}

t.test('what counts as code at run time is told by rule', async (t) => {
  const cases: [code: string, runs: boolean][] = [
    ["import type { A } from './a.ts';\nexport interface B extends A {\n  c: string;\n}\nexport type D =\n  | A\n  | B;\n", false],
    ["export type { A } from './a.ts';\n", false],
    ["import { type A, type B } from './a.ts';\ntype C = A & B;\n", false],
    ["export type { A } from './a.ts';\nexport { b } from './b.ts';\n", false],
    ["import './a.ts';\n", true],
    ['export const a = 1;\n', true],
    ['interface A {}\nexport function f(): void {}\n', true],
    ['await run();\n', true],
  ];
  for (const [code, runs] of cases) t.equal(hasRunTimeCode(code), runs, code.split('\n').join(' '));
});

t.test('every source file with code at run time has its spec, or is small and shares that of a file beside it, which imports it', async (t) => {
  for (const { path, code } of SOURCES) {
    const spec = join('spec', path.replace(/\.ts$/, '.spec.ts'));
    if (hasRunTimeCode(code) && !existsSync(join(ROOT, spec))) t.ok(hasSharedSpec(path), spec);
  }
  t.ok(hasSharedSpec('core/schemas/session.ts'));
  for (const other of ['core/schemas/block-api.ts', 'core/schemas/validate.ts', 'core/bus.ts', 'core/nowhere/x.ts']) t.notOk(hasSharedSpec(other), other);
});

t.test('no spec waits for a test of its own before it is loaded: in a group, that test begins only afterwards', async (t) => {
  for (const path of sourcesBelow('spec').filter((name) => name.endsWith('.spec.ts'))) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    if (/^(?:const .* = )?await t\.test\(/m.test(text)) t.fail(path);
  }
});

t.test('every spec of a source folder stands for a source file', async (t) => {
  for (const folder of FOLDERS) {
    for (const path of sourcesBelow(join('spec', folder)).filter((name) => name.endsWith('.spec.ts'))) {
      // `server.hostile.spec.ts` and `server-hostile.spec.ts` are further specs of `server.ts`.
      const name = relative('spec', path).replace(/\.spec\.ts$/, '');
      const stands = [...SOURCES, ...PAGE_SOURCES, ...PAGE_IN_NODE.map((source) => ({ path: source }))].some(
        (source) =>
          name === source.path.replace(/\.tsx?$/, '') || (/^[.-]/.test(name.slice(source.path.length - 3)) && name.startsWith(source.path.slice(0, -3))),
      );
      t.ok(stands, path);
    }
  }
});

t.test('the readers of this spec see what they should', async (t) => {
  const code = withoutComments("const a = 'http://x'; // b\n/* c */ const d = /\\/\\/e/.test(`f // g`);\nimport h from './i.ts';\nawait import('node:j');\n");
  t.notMatch(code, / b| c /);
  t.match(code, 'http://x');
  t.match(code, 'f // g');
  t.match(code, '/\\/\\/e/');
  t.strictSame(
    importsOf('core/k/l.ts', code).map(({ target }) => target),
    ['core/k/i.ts', 'node:j'],
  );
});
