// The rooms of the product: which files each holds, and which other rooms it may import. A room is a folder with the folders below it, or a list of
// files. A room imports only rooms that stand above it in its table, so there can be no circle.

export interface Room {
  readonly name: string;
  /** Folders, which end with a slash, and files. A file belongs to the room with the longest match. */
  readonly holds: readonly string[];
  /** Names of other rooms. Types count like values. */
  readonly imports: readonly string[];
}

/** Ground first. */
export const CORE_ROOMS: readonly Room[] = [
  { name: 'ground', holds: ['core/errors.ts', 'core/types.ts', 'core/version.ts', 'core/adapter-id.ts'], imports: [] },
  { name: 'base', holds: ['core/base/'], imports: ['ground'] },
  { name: 'schemas', holds: ['core/schemas/'], imports: ['ground', 'base'] },
  { name: 'bus', holds: ['core/bus.ts', 'core/event-ring.ts'], imports: ['ground'] },
  {
    name: 'store port',
    holds: [
      'core/store/approvals.ts',
      'core/store/claim.ts',
      'core/store/client-book.ts',
      'core/store/passes.ts',
      'core/store/port.ts',
      'core/store/run-fact.ts',
      'core/store/search.ts',
      'core/store/setting.ts',
      'core/store/store.ts',
    ],
    imports: ['ground', 'schemas', 'bus'],
  },
  { name: 'tools', holds: ['core/tools/'], imports: ['ground', 'base', 'schemas', 'store port'] },
  { name: 'conversation', holds: ['core/block/conversation/'], imports: ['ground', 'base', 'schemas', 'store port', 'tools'] },
  { name: 'costs', holds: ['core/block/costs/'], imports: ['ground', 'base', 'schemas', 'store port'] },
  { name: 'documents', holds: ['core/block/documents/'], imports: ['base', 'schemas'] },
  { name: 'store parts', holds: ['core/store/parts/'], imports: ['ground', 'base', 'schemas', 'store port', 'conversation', 'costs', 'documents'] },
  {
    name: 'file store',
    holds: ['core/store/files/'],
    imports: ['ground', 'base', 'schemas', 'bus', 'store port', 'conversation', 'costs', 'documents', 'store parts'],
  },
  {
    name: 'PostgreSQL store',
    holds: ['core/store/postgres/'],
    imports: ['ground', 'base', 'schemas', 'bus', 'store port', 'conversation', 'costs', 'documents', 'store parts'],
  },
  {
    name: 'store',
    holds: ['core/store/open.ts', 'core/store/copy.ts'],
    imports: ['ground', 'bus', 'store port', 'store parts', 'file store', 'PostgreSQL store'],
  },
  { name: 'auth', holds: ['core/auth/'], imports: ['ground', 'base', 'schemas', 'bus', 'store port', 'file store'] },
  { name: 'gateway', holds: ['core/gateway/', 'core/ports.ts'], imports: ['ground', 'base', 'schemas', 'bus', 'auth'] },
  { name: 'status', holds: ['core/block/status/'], imports: ['ground', 'base', 'schemas', 'store port', 'conversation', 'documents', 'gateway'] },
  { name: 'actor', holds: ['core/block/actor/'], imports: ['ground', 'schemas', 'store port', 'gateway', 'status'] },
  { name: 'schedule', holds: ['core/schedule/'], imports: ['ground', 'base', 'schemas', 'bus', 'store port'] },
  { name: 'notify', holds: ['core/notify/'], imports: ['ground', 'base', 'schemas', 'bus', 'store port', 'gateway'] },
  {
    name: 'reply',
    holds: ['core/block/reply/'],
    imports: ['ground', 'base', 'schemas', 'bus', 'tools', 'store port', 'costs', 'gateway', 'status', 'actor', 'schedule', 'notify'],
  },
  { name: 'routing', holds: ['core/routing/'], imports: ['ground', 'base', 'schemas', 'bus', 'store port', 'gateway'] },
  {
    name: 'block',
    holds: ['core/block/'],
    imports: [
      'ground',
      'base',
      'schemas',
      'bus',
      'tools',
      'store port',
      'conversation',
      'costs',
      'documents',
      'store parts',
      'file store',
      'auth',
      'gateway',
      'status',
      'actor',
      'schedule',
      'notify',
      'reply',
      'routing',
    ],
  },
  { name: 'keys', holds: ['core/keys/'], imports: ['ground', 'base', 'schemas', 'bus', 'store port', 'costs', 'gateway', 'routing'] },
  { name: 'workers', holds: ['core/workers/'], imports: ['ground', 'base', 'bus', 'store port', 'store', 'auth', 'gateway', 'block', 'keys'] },
  {
    name: 'top',
    holds: ['core/'],
    imports: [
      'ground',
      'base',
      'schemas',
      'bus',
      'tools',
      'store port',
      'costs',
      'store parts',
      'file store',
      'store',
      'auth',
      'gateway',
      'status',
      'schedule',
      'notify',
      'reply',
      'routing',
      'block',
      'keys',
      'workers',
    ],
  },
];

/** The files outside `core/store/` that import the file store, and why. A second store would have to be threaded through them, so the list only shrinks. */
export const FILE_STORE_USERS: Readonly<Record<string, string>> = {
  'cli/copy-parts.ts': 'keeps the bundle of a start in few files',
  'core/client-parts.ts': 'a command reads who holds the folder',
  'core/index.ts': 'exports the lock and the log of the server to the CLI, which are of one machine with any store',
  'core/auth/credentials.ts': 'auth.json is of one machine with any store',
  'core/auth/preset-file.ts': 'presets.json stands beside auth.json',
  'core/auth/price-file.ts': 'prices.json stands beside auth.json',
  'core/deep-health.ts': 'the disk is of one machine with any store',
  'core/block/doctor.ts': 'the doctor looks at files',
  'core/block/doctor-offline.ts': 'the doctor looks at files',
  'core/block/doctor-workspace.ts': 'the doctor looks at files',
};

/** Of the commands and what they share. */
export const CLI_ROOMS: readonly Room[] = [
  { name: 'terminal', holds: ['cli/terminal/'], imports: [] },
  { name: 'client', holds: ['cli/client/'], imports: ['terminal'] },
  { name: 'views', holds: ['cli/views/'], imports: ['terminal', 'client'] },
  { name: 'input', holds: ['cli/input/'], imports: ['terminal', 'client', 'views'] },
  { name: 'talk', holds: ['cli/talk/'], imports: ['terminal', 'client', 'views', 'input'] },
  { name: 'serve', holds: ['cli/serve/'], imports: ['terminal', 'views'] },
  { name: 'compose', holds: ['cli/compose.ts', 'cli/copy-parts.ts', 'cli/lazy-tools.ts', 'cli/server-parts.ts'], imports: ['terminal', 'serve'] },
  { name: 'command', holds: ['cli/command/'], imports: ['terminal', 'client', 'serve', 'compose'] },
  { name: 'complete', holds: ['cli/complete/'], imports: ['terminal', 'client', 'views', 'input', 'talk', 'serve', 'compose'] },
  { name: 'commands', holds: ['cli/commands/'], imports: ['terminal', 'client', 'views', 'input', 'talk', 'serve', 'compose', 'command', 'complete'] },
  { name: 'main', holds: ['cli/main/'], imports: ['terminal', 'commands', 'complete'] },
  { name: 'start', holds: ['cli/main.ts'], imports: ['terminal', 'main'] },
];

/** Of the HTTP transport. */
export const HTTP_ROOMS: readonly Room[] = [
  { name: 'transports', holds: ['transports/'], imports: [] },
  { name: 'wire', holds: ['transports/http/wire/'], imports: ['transports'] },
  { name: 'dialects', holds: ['transports/http/dialects/'], imports: [] },
  { name: 'openapi', holds: ['transports/http/openapi/'], imports: ['transports', 'wire'] },
  { name: 'handlers', holds: ['transports/http/handlers/'], imports: ['transports', 'wire', 'dialects', 'openapi'] },
  { name: 'routes', holds: ['transports/http/routes/'], imports: ['wire', 'dialects', 'openapi', 'handlers'] },
  { name: 'server', holds: ['transports/http/'], imports: ['transports', 'wire', 'routes'] },
];
