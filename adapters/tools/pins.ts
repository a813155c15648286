// mcp-pins.json of the workspace: which servers may be started, which tools and skills may be offered, as a person has approved them, and what the servers showed last.
// With a database, they are a row of it, so that what is approved at one server holds at all.
//
// last-good: a damaged file approves nothing new; its last good content stays in use. If there was none, nothing is approved.
// bound: an approval names what was shown, by its hash. What differs by then is not approved.
// read-once: what was just written is not read again, since all tools of all servers together may be 16 MiB.
// own-hash: a pin counts only if its definition has its hash, so that an edit of the file by hand changes no text that was approved.
import { exceededLimit, isObject } from '../../core/base/json.ts';
import { BlockhouseError, type Setting, type SettingCodec, type SettingStore, type SkillPin, type SkillPins } from '../../core/index.ts';
import { toolHash } from './hashes.ts';
import { damaged, strictObject } from './mcp-json.ts';
import { judged, type SeenTool } from './seen-tools.ts';
import type { Era, ListedTool } from './server.ts';
import { skillPinsOf } from './skills/skill-pins.ts';

/** The name of the file in a workspace. */
export const PINS_FILE = 'mcp-pins.json';
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_VALUES = 1_000_000;

/** A tool: what was approved, and what the server showed last. At least one of the two is there. */
export interface KnownTool {
  /** As it was approved. */
  readonly pin?: { readonly hash: string; readonly approvedAt: string; readonly approvedBy: string; readonly definition: ListedTool } | undefined;
  /** As the server showed it last, where that is not the pin. */
  readonly now?: SeenTool | undefined;
  /** The server did not list it last. */
  readonly isGone?: boolean | undefined;
}

/** What is known of a server. */
export interface ServerPins {
  /** The approved definition. */
  readonly definition?: string | undefined;
  readonly approvedAt?: string | undefined;
  readonly approvedBy?: string | undefined;
  readonly era?: Era | undefined;
  readonly eraSeenAt?: string | undefined;
  /** The definition that was started when the tools were looked at last. */
  readonly seenDefinition?: string | undefined;
  readonly tools: ReadonlyMap<string, KnownTool>;
}

const NONE: ServerPins = { tools: new Map() };

/** All that is known. */
interface AllPins {
  readonly servers: ReadonlyMap<string, ServerPins>;
  readonly skills: SkillPins;
}

const NOTHING: AllPins = { servers: new Map(), skills: {} };

/** A state of a tool, as people see it. */
export function stateOf({ pin, now, isGone }: KnownTool): 'approved' | 'changed' | 'new' | 'unusable' | 'gone' {
  if (now?.problem !== undefined) return 'unusable';
  if (isGone === true) return 'gone';
  if (pin === undefined) return 'new';
  return now === undefined ? 'approved' : 'changed';
}

/** How the pins are read and written. */
class PinsCodec implements SettingCodec<AllPins> {
  /** read-once. */
  #last: { readonly pins: AllPins; readonly text: string } | undefined;

  parse(text: string | undefined): AllPins {
    if (text !== undefined && text === this.#last?.text) return this.#last.pins;
    const document = strictObject(text, MAX_VALUES) ?? {};
    return { servers: serversOf(document), skills: skillPinsOf(document['skills']) };
  }

  format(pins: AllPins): string {
    if (this.#last?.pins !== pins) this.#last = { pins, text: textOf(pins) };
    return this.#last.text;
  }
}

/** The pins. */
export class Pins {
  readonly #codec = new PinsCodec();
  readonly #setting: Setting<AllPins>;
  readonly #clock: () => number;

  /** `clock` in milliseconds of the epoch. */
  constructor(settings: SettingStore, clock: () => number) {
    this.#clock = clock;
    this.#setting = settings.open('mcp-pins', this.#codec, () => undefined);
  }

  /** Why the pins can't be used now; undefined if they can. */
  get fault(): string | undefined {
    return this.#setting.now().fault;
  }

  of(server: string): ServerPins {
    return this.#setting.now().good?.servers.get(server) ?? NONE; // last-good
  }

  /** Looks at once. Rejects with STORE_UNREACHABLE. */
  look(): Promise<void> {
    return this.#setting.look();
  }

  /** As a skill was approved; undefined for one that never was. `owner` is a block, or `_` for the workspace. */
  skill(owner: string, name: string): SkillPin | undefined {
    const { skills } = this.#setting.now().good ?? NOTHING;
    const pins = Object.hasOwn(skills, owner) ? skills[owner] : undefined;
    return pins !== undefined && Object.hasOwn(pins, name) ? pins[name] : undefined;
  }

  /** Changes what is approved of skills. The same object again writes nothing. */
  async changeSkills(change: (pins: SkillPins) => SkillPins): Promise<void> {
    await this.#update(
      (now) => ({ ...now, skills: change(now.skills) }),
      ({ skills }) => change(skills) === skills,
    );
  }

  /** Remembers what a server has listed: what differs from its pin is changed, what has none is new. With `offers`, new tools are pinned. */
  async see(
    server: string,
    tools: readonly ListedTool[],
    { offers, look }: { readonly offers: boolean; readonly look?: { readonly definition: string; readonly era: Era } },
  ): Promise<void> {
    const seen = judged(tools);
    const at = this.#time();
    await this.#change(server, (known) => {
      const merged = merge(known.tools, seen, offers ? { at, by: 'newTools' } : undefined);
      return { ...known, ...(look && { era: look.era, eraSeenAt: at, seenDefinition: look.definition }), tools: merged };
    });
  }

  /** Approves a definition and tools by the hashes that were shown. Throws TOOL_CHANGED (bound). */
  async approve(server: string, definition: string, hashes: Readonly<Record<string, string>>, by: string): Promise<void> {
    const at = this.#time();
    await this.#change(server, (known) => {
      const named = new Map(Object.entries(hashes));
      if (named.size > 0 && known.seenDefinition !== definition) throw notSeen(server);
      for (const [name, hash] of named) {
        const tool = known.tools.get(name);
        if (tool?.now?.problem !== undefined) throw changed(server, name, `can't be used: ${tool.now.problem}`);
        if ((tool?.now?.hash ?? tool?.pin?.hash) !== hash || tool?.isGone === true) throw changed(server, name, 'is not the one that was shown');
      }
      const isOther = known.definition !== definition;
      const tools = [...known.tools].map(([name, tool]): [string, KnownTool] => [
        name,
        named.has(name) ? pinned(tool, at, by) : isOther ? unpinned(tool) : tool,
      ]);
      return { ...known, definition, approvedAt: at, approvedBy: by, tools: new Map(tools) };
    });
  }

  /** Forgets a server. */
  async forget(server: string): Promise<void> {
    await this.#rewrite((all) => all.delete(server));
  }

  async #change(server: string, change: (known: ServerPins) => ServerPins): Promise<void> {
    await this.#rewrite((all) => {
      all.set(server, change(all.get(server) ?? NONE));
      return true;
    });
  }

  async #rewrite(change: (all: Map<string, ServerPins>) => boolean): Promise<void> {
    await this.#update((now) => {
      const servers = new Map(now.servers);
      return change(servers) ? { ...now, servers } : undefined;
    });
  }

  /** Writes nothing where nothing changes. Rejects with WORKSPACE_DAMAGED, TOOL_SERVER_REFUSED, or what `change` throws. */
  async #update(change: (now: AllPins) => AllPins | undefined, isNothing: (now: AllPins) => boolean = () => false): Promise<void> {
    await this.#setting.update(({ good = NOTHING, fault }) => {
      if (isNothing(good)) return undefined; // also where the pins are damaged
      if (fault !== undefined) throw damaged(PINS_FILE, fault);
      const next = change(good);
      if (next === undefined) return undefined;
      const before = this.#codec.format(good);
      const text = this.#codec.format(next);
      if (text === before) return undefined;
      const bytes = Buffer.from(text);
      if (bytes.length > MAX_BYTES || exceededLimit(bytes, { values: MAX_VALUES }) !== undefined)
        throw new BlockhouseError(
          'TOOL_SERVER_REFUSED',
          'What the servers say of their tools, and the texts of skills, are too much to keep. Remove some first.',
        );
      return next;
    });
  }

  #time(): string {
    return new Date(this.#clock()).toISOString();
  }
}

function notSeen(server: string): BlockhouseError {
  return new BlockhouseError('TOOL_CHANGED', `${server} was not looked at as it is now. Look at it: \`blockhouse tools test ${server}\`.`);
}

function changed(server: string, tool: string, why: string): BlockhouseError {
  const name = JSON.stringify(tool.slice(0, 64));
  return new BlockhouseError('TOOL_CHANGED', `The tool ${name} of ${server} ${why}. Read it again: \`blockhouse tools diff ${server}\`.`);
}

/** What was known, and what is listed now. */
function merge(
  known: ServerPins['tools'],
  seen: ReadonlyMap<string, SeenTool>,
  offer: { readonly at: string; readonly by: string } | undefined,
): Map<string, KnownTool> {
  const merged = new Map<string, KnownTool>();
  for (const [name, { pin }] of known) if (pin !== undefined && !seen.has(name)) merged.set(name, { pin, isGone: true });
  for (const [name, now] of seen) {
    const pin = known.get(name)?.pin;
    const tool: KnownTool = pin?.hash === now.hash && now.problem === undefined ? { pin } : { pin, now };
    merged.set(name, offer !== undefined && stateOf(tool) === 'new' ? pinned(tool, offer.at, offer.by) : tool);
  }
  return merged;
}

function pinned({ pin, now }: KnownTool, approvedAt: string, approvedBy: string): KnownTool {
  if (now === undefined) return { pin };
  return { pin: { hash: now.hash, approvedAt, approvedBy, definition: now.definition } };
}

/** Of another definition nothing is approved: it may be another program that says the same. */
function unpinned({ pin, now, isGone }: KnownTool): KnownTool {
  if (pin === undefined || isGone === true) return { now, isGone };
  return { now: now ?? { hash: pin.hash, definition: pin.definition } };
}

function textOf({ servers, skills }: AllPins): string {
  const all = [...servers].map(([name, { tools, ...known }]) => [
    name,
    { ...known, tools: Object.fromEntries([...tools].filter(([, tool]) => tool.pin ?? tool.now)) },
  ]);
  const document = { servers: Object.fromEntries(all), ...(Object.keys(skills).length > 0 && { skills }) };
  return `${JSON.stringify(document, null, 1)}\n`;
}

function serversOf(document: Readonly<Record<string, unknown>>): Map<string, ServerPins> {
  const servers = document['servers'] ?? {};
  if (!isObject(servers)) throw new Error('servers must be an object with one member for each server');
  return new Map(Object.entries(servers).flatMap(([name, raw]) => (isObject(raw) ? [[name, pinsOf(raw)] as const] : [])));
}

/** Of an entry that is not as we write it, nothing is approved. */
function pinsOf(raw: Readonly<Record<string, unknown>>): ServerPins {
  const text = (name: string): string | undefined => (typeof raw[name] === 'string' ? raw[name] : undefined);
  const era = text('era');
  const tools = isObject(raw['tools']) ? Object.entries(raw['tools']).flatMap(([name, tool]) => knownTool(name, tool)) : [];
  return {
    definition: text('definition'),
    approvedAt: text('approvedAt'),
    approvedBy: text('approvedBy'),
    era: era === 'legacy' || era === 'modern' ? era : undefined,
    eraSeenAt: text('eraSeenAt'),
    seenDefinition: text('seenDefinition'),
    tools: new Map(tools),
  };
}

function knownTool(name: string, raw: unknown): [string, KnownTool][] {
  if (!isObject(raw)) return [];
  const [pin, now] = [seenTool(name, raw['pin']), seenTool(name, raw['now'])];
  const isPin = pin !== undefined && pin.problem === undefined;
  if (!isPin && now === undefined) return [];
  const by = isObject(raw['pin']) ? raw['pin'] : {};
  const approved = isPin
    ? { hash: pin.hash, approvedAt: String(by['approvedAt']), approvedBy: String(by['approvedBy']), definition: pin.definition }
    : undefined;
  return [[name, { pin: approved, now, isGone: raw['isGone'] === true || undefined }]];
}

/** own-hash. */
function seenTool(name: string, raw: unknown): SeenTool | undefined {
  if (!isObject(raw) || !isObject(raw['definition']) || !isObject(raw['definition']['inputSchema'])) return undefined;
  const definition = raw['definition'] as unknown as ListedTool;
  const problem = typeof raw['problem'] === 'string' ? raw['problem'] : undefined;
  const hash = typeof raw['hash'] === 'string' ? raw['hash'] : '';
  if (problem !== undefined) return { hash, definition, problem };
  return definition.name === name && toolHash(definition) === hash ? { hash, definition } : undefined;
}
