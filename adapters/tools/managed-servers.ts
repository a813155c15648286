// Manages the servers of tools: what the routes, the commands and the page do with them.
//
// shown-first: a server is started and approved only by the hash of what was shown. A hash that was not shown, or is another one by now, is refused.
// no-secret: no answer has a secret; what stands in an entry in clear is masked.
import { estimateTokens } from '../../core/base/tokens.ts';
import type {
  ApproveToolServer,
  BeginToolSignIn,
  CallTool,
  FinishToolSignIn,
  PutToolServer,
  SetToolSecret,
  TestToolServer,
  ToolCalled,
  ToolServerView,
  ToolSignInBegun,
  ToolView,
} from '../../core/index.ts';
import {
  BlockhouseError,
  compile,
  type Finding,
  invalidRequest,
  type JsonRecord,
  marksOf,
  schemas,
  secretsNamedIn,
  type ToolServers,
  type Validator,
} from '../../core/index.ts';
import { approvalText, type Book, unofferedOf } from './book.ts';
import { readEntry, SERVER_NAME, type ServerEntry, shownEntry } from './entry.ts';
import { MCP_FILE } from './mcp-json.ts';
import { clientKeyIn, keyInFile, looksLikeKey } from './oauth/client-key.ts';
import { askedBy, beginLogin, finishLogin, logout, StrangeAnswer } from './oauth/logins.ts';
import { SignInFault } from './oauth/places.ts';
import { CLIENT_KEY, CLIENT_SECRET, forgetProgram, neededSecret, type SignInPlace } from './oauth/records.ts';
import type { SignIns } from './oauth/sign-ins.ts';
import { callOnce } from './one-call.ts';
import { type KnownTool, PINS_FILE, stateOf } from './pins.ts';
import type { ListedTool, Sessions } from './server.ts';
import { settingsFaults } from './settings-findings.ts';

const SECRET_FIELD = /^[A-Za-z0-9_-]{1,64}$/;
/** A secret of a header or a variable: no control characters, so that none begins another line. */
const SECRET_VALUE = /^[^\p{Cc}]+$/u;

const checkPut: Validator<PutToolServer> = compile(schemas.PutToolServer);
const checkTest: Validator<TestToolServer> = compile(schemas.TestToolServer);
const checkCall: Validator<CallTool> = compile(schemas.CallTool);
const checkApprove: Validator<ApproveToolServer> = compile(schemas.ApproveToolServer);
const checkSecret: Validator<SetToolSecret> = compile(schemas.SetToolSecret);
const checkBegin: Validator<BeginToolSignIn> = compile(schemas.BeginToolSignIn);
const checkFinish: Validator<FinishToolSignIn> = compile(schemas.FinishToolSignIn);

/** Manages the servers of a book, which `sessions` starts. */
export class ManagedServers implements ToolServers {
  readonly #book: Book;
  readonly #sessions: Sessions;
  readonly #signIns: SignIns;
  readonly #listeners: ((server: string) => void)[] = [];

  constructor(book: Book, sessions: Sessions, signIns: SignIns) {
    this.#book = book;
    this.#sessions = sessions;
    this.#signIns = signIns;
  }

  /** Tells of persons who have signed in, from now on. */
  onSignIn(listener: (server: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Remembers what a server lists while it works: what differs from its pin is not offered from the next message on. */
  async noteListed(server: string, tools: readonly ListedTool[]): Promise<void> {
    const entry = this.#book.mcp.entries().get(server);
    if (entry === undefined || this.#book.approvalOf(entry) !== undefined) return; // of another definition than the one that runs
    await this.#book.pins.see(server, tools, { offers: entry.newTools === 'offer' });
  }

  async list(): Promise<readonly ToolServerView[]> {
    await this.#book.look();
    const entries = [...this.#book.mcp.entries().values()];
    return Promise.all(entries.map((entry) => this.#viewOf(entry, false)));
  }

  async get(name: string): Promise<ToolServerView> {
    return this.#viewOf(await this.#need(name), true);
  }

  async put(name: string, body: unknown): Promise<ToolServerView> {
    checkPut(body);
    await this.#book.look();
    const before = this.#book.mcp.entries().get(name);
    const settings = body.settings ?? before?.rawSettings;
    const entry = readEntry(name, body.server, settings);
    if (entry.fault !== undefined) throw refused(name, entry.fault);
    const { fault } = await this.#book.resolve(entry);
    if (fault !== undefined && !isAboutSources(fault)) throw refused(name, fault);
    await this.#assertKeyFile(entry);
    await this.#book.mcp.put(name, body.server, body.settings);
    return this.get(name);
  }

  /** The file may be another one later; that there is none now is a mistake. */
  async #assertKeyFile(entry: ServerEntry): Promise<void> {
    const { keyFile } = (await this.#book.signInPlace(entry))?.oauth ?? {};
    if (keyFile === undefined) return;
    await keyInFile(keyFile).catch((fault: unknown) => {
      if (fault instanceof SignInFault) throw refused(entry.name, fault.message);
      throw fault;
    });
  }

  async remove(name: string): Promise<void> {
    await this.#book.look();
    const entries = this.#book.mcp.entries();
    const others = [...entries.values()].filter((entry) => entry.name !== name);
    const place = await this.#placeIn(entries.get(name));
    if (!(await this.#book.mcp.remove(name))) throw this.#notFound(name);
    await this.#sessions.end(name);
    await this.#book.pins.forget(name);
    await logout(this.#signIns, name, place); // what could not be given back ends by itself
    const isRead = others.some((entry) => secretsOf(entry).some(({ server }) => server === name));
    if (!isRead) await this.#book.credentials.setServerSecrets(name, {}, 'all');
  }

  async test(name: string, body: unknown, signal: AbortSignal): Promise<ToolServerView> {
    checkTest(body);
    const entry = await this.#need(name);
    if (entry.definition !== body.definition) throw otherDefinition(name);
    const one = await this.#book.resolve(entry);
    if (one.fault !== undefined) throw refused(name, one.fault);
    const { era, tools } = await this.#sessions.look(this.#book.callableOf(entry, one), signal);
    await this.#book.look();
    if (this.#book.mcp.entries().get(name)?.definition !== body.definition) throw otherDefinition(name);
    const offers = entry.newTools === 'offer' && this.#book.approvalOf(entry) === undefined;
    await this.#book.pins.see(name, tools, { offers, look: { definition: entry.definition, era } });
    return this.get(name);
  }

  async call(name: string, body: unknown, signal: AbortSignal): Promise<ToolCalled['result']> {
    checkCall(body);
    return callOnce(this.#book, this.#sessions, await this.#need(name), body, signal);
  }

  async approve(name: string, body: unknown, by: string): Promise<ToolServerView> {
    checkApprove(body);
    const entry = await this.#need(name);
    if (entry.fault !== undefined) throw refused(name, entry.fault);
    if (entry.definition !== body.definition)
      throw new BlockhouseError('TOOL_CHANGED', `The entry of ${name} is not the one that was shown. Read it again: \`blockhouse tools test ${name}\`.`);
    await this.#book.pins.approve(name, body.definition, body.tools, by);
    return this.get(name);
  }

  async setSecret(server: string, field: string, body: unknown): Promise<void> {
    checkSecret(body);
    if (!SERVER_NAME.test(server)) throw invalidRequest('server', 'must have 1 to 64 letters, digits, _ and -');
    if (!SECRET_FIELD.test(field)) throw invalidRequest('field', 'must have 1 to 64 letters, digits, _ and -');
    const value = field === CLIENT_KEY && body.value !== null && looksLikeKey(body.value) ? keyLine(body.value) : body.value;
    if (value !== null && !SECRET_VALUE.test(value)) throw invalidRequest('value', 'must not have line breaks or other control characters');
    const { credentials } = this.#book;
    if (value === null && !Object.hasOwn(credentials.serverSecrets(server), field))
      throw new BlockhouseError('NOT_FOUND', `There is no secret ${server}.${field}.`);
    await credentials.setServerSecrets(server, { [field]: value ?? undefined });
    if (field === CLIENT_SECRET || field === CLIENT_KEY) await forgetProgram(credentials, server); // its token was got with the one before
    await this.#book.look();
    const readers = [...this.#book.mcp.entries().values()].filter((entry) => secretsOf(entry).some((one) => one.server === server && one.field === field));
    await Promise.all(readers.map(({ name }) => this.#sessions.end(name))); // they have the one before
  }

  async beginSignIn(name: string, body: unknown, signal: AbortSignal): Promise<ToolSignInBegun> {
    checkBegin(body);
    const place = await this.#placeOf(name);
    return this.#signed(name, async () => {
      if (place.oauth?.grant !== 'client_credentials') return beginLogin(this.#signIns, place, body, AbortSignal.any([signal, this.#signIns.signal]));
      await this.#signIns.token(place, signal);
      this.#sessions.forgive(name);
      return { url: null, issuer: place.oauth.issuer ?? '', expiresAt: null };
    });
  }

  async finishSignIn(name: string, body: unknown): Promise<ToolServerView> {
    checkFinish(body);
    const place = await this.#placeOf(name);
    await this.#signed(name, () => finishLogin(this.#signIns, place, body.query, this.#signIns.signal));
    this.#sessions.forgive(name); // it may have failed for want of this
    for (const listener of this.#listeners) listener(name);
    return this.get(name);
  }

  async answerSignIn(query: string, redirectURI: string): Promise<ToolServerView> {
    const names = [...this.#book.mcp.entries().keys()];
    const name = await this.#signed('', async () => askedBy(this.#signIns, names, query, redirectURI));
    return this.finishSignIn(name, { query });
  }

  async signOut(name: string): Promise<string | undefined> {
    const place = await this.#placeIn(await this.#need(name));
    return logout(this.#signIns, name, place); // calls under way are left alone: their requests are made
  }

  async #placeIn(entry: ServerEntry | undefined): Promise<SignInPlace | undefined> {
    return entry && this.#book.signInPlace(entry);
  }

  /** TOOL_SERVER_REFUSED for a server that can't be signed in to. */
  async #placeOf(name: string): Promise<SignInPlace> {
    const entry = await this.#need(name);
    const place = await this.#book.signInPlace(entry);
    if (place !== undefined) return place;
    const { fault } = await this.#book.resolveStart(entry);
    throw refused(name, fault ?? 'only a server at an address without a header Authorization is signed in to');
  }

  async #signed<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (fault) {
      if (fault instanceof StrangeAnswer) throw invalidRequest('query', fault.message);
      const isFault = fault instanceof SignInFault || (fault instanceof BlockhouseError && fault.code === 'TOOL_NOT_BEGUN');
      if (!isFault) throw fault;
      throw new BlockhouseError('TOOL_SERVER_FAILED', `${name.slice(0, 64)} can't be signed in to: ${fault.message}.`, { cause: fault });
    }
  }

  async findings(): Promise<readonly Finding[]> {
    await this.#book.look();
    const findings: Finding[] = [];
    const entries = [...this.#book.mcp.entries().values()];
    const { fault } = this.#book.mcp;
    if (fault !== undefined) findings.push(error(MCP_FILE, fault, 'Repair it. Until then, a server that has read it before goes on with what it said then.'));
    const { fault: pinsFault } = this.#book.pins;
    if (pinsFault !== undefined)
      findings.push(error(PINS_FILE, pinsFault, 'Repair it, or remove it and approve the servers again (`blockhouse tools approve`).'));
    for (const entry of entries) findings.push(...(await this.#findingsOf(entry)));
    return findings;
  }

  async #findingsOf(entry: ServerEntry): Promise<Finding[]> {
    const { name } = entry;
    const problem = await this.#book.problemOf(entry);
    const place = `${MCP_FILE}, ${name.slice(0, 64)}`;
    if (problem !== undefined) {
      const [what = '', ...fix] = problem.split('; ');
      return [warning(place, `${what}, so none of its tools is offered`, sentence(fix.join('; ')) ?? `Look at it: \`blockhouse tools test ${name}\`.`)];
    }
    const unoffered = unofferedOf(name, this.#book.pins.of(name).tools).map((text) => {
      const [, what = text, command] = /^(.*) \((`.*`)\)$/.exec(text) ?? [];
      return warning(PINS_FILE, what, `Look at them: ${command}.`);
    });
    const wrong = settingsFaults(await this.#book.catalogue([name]), name).map(({ problem: what, fix }) => warning(place, what, fix));
    return [...unoffered, ...wrong];
  }

  async #need(name: string): Promise<ServerEntry> {
    await this.#book.look();
    const entry = this.#book.mcp.entries().get(name);
    if (entry === undefined) throw this.#notFound(name);
    return entry;
  }

  #notFound(name: string): BlockhouseError {
    const { fault } = this.#book.mcp;
    const why = fault === undefined ? '' : ` ${MCP_FILE} can't be used: ${fault}.`;
    return new BlockhouseError('TOOL_SERVER_NOT_FOUND', `There is no server of tools named ${JSON.stringify(name.slice(0, 64))}.${why}`);
  }

  async #viewOf(entry: ServerEntry, isWhole: boolean): Promise<ToolServerView> {
    const { name, definition } = entry;
    const pins = this.#book.pins.of(name);
    const { state, problem } = await this.#stateOf(entry);
    return {
      name,
      state,
      ...(problem !== undefined && { problem }),
      definition,
      server: shownEntry(entry),
      settings: (entry.fault === undefined ? (entry.rawSettings ?? {}) : {}) as JsonRecord, // what is not checked may be anything
      era: pins.era ?? null,
      ...(await this.#signInOf(entry)),
      tools: [...pins.tools].sort(([a], [b]) => (a < b ? -1 : 1)).map(([tool, known]) => toolView(tool, known, entry, isWhole)),
      secrets: secretsOf(entry).map(({ server, field }) => ({ name: `${server}.${field}`, isStored: this.#book.secret(server, field) !== undefined })),
    };
  }

  async #signInOf(entry: ServerEntry): Promise<Pick<ToolServerView, 'signIn'>> {
    const signIn = await this.#book.signInOf(entry);
    return signIn === undefined ? {} : { signIn };
  }

  async #stateOf(entry: ServerEntry): Promise<Pick<ToolServerView, 'state'> & { readonly problem?: string | undefined }> {
    const { fault } = await this.#book.resolve(entry);
    if (fault !== undefined) return { state: 'failed', problem: sentence(fault) };
    const approval = this.#book.approvalOf(entry);
    if (approval !== undefined) return { state: approval, problem: sentence(approvalText(approval, entry.name)) };
    return this.#sessions.stateOf(entry.name);
  }
}

function toolView(name: string, known: KnownTool, { name: server, rawSettings }: ServerEntry, isWhole: boolean): ToolView {
  const { pin, now } = known;
  const state = stateOf(known);
  const hash = now?.hash ?? pin?.hash ?? '';
  const definition = now?.definition ?? pin?.definition ?? { name, inputSchema: {} };
  const { description = '', annotations = {}, inputSchema } = definition;
  const settings = typeof rawSettings === 'object' && rawSettings !== null ? rawSettings : {};
  return {
    name,
    state,
    hash,
    tokens: estimateTokens(JSON.stringify({ name, description, inputSchema })),
    description,
    annotations: annotations as JsonRecord,
    marks: marksOf({ server, tool: name, pin: hash, inputSchema, annotations }, settings),
    ...(isWhole && state !== 'unusable' && { now: definition as unknown as JsonRecord }),
    ...(isWhole && state === 'changed' && { was: pin?.definition as unknown as JsonRecord }),
    ...(now?.problem !== undefined && { problem: now.problem }),
  };
}

function secretsOf({ name, template }: ServerEntry): ReturnType<typeof secretsNamedIn> {
  const { command = '', args = [], env = {}, url = '', headers = {}, oauth } = template;
  const needed = neededSecret(oauth);
  const ofClient = needed === undefined ? [] : [`\${auth:${name}.${needed}}`];
  return secretsNamedIn([command, ...args, ...Object.values(env), url, ...Object.values(headers), ...ofClient]);
}

/** A secret, a variable or a sign-in that is not there yet is no reason to refuse an entry. */
function isAboutSources(fault: string): boolean {
  return /^its secret .* is not stored|^the variable \w+ is not set|`blockhouse tools login /.test(fault);
}

/** A private key in one line, as secrets are. Throws INVALID_REQUEST for one that can't be used. */
function keyLine(text: string): string {
  try {
    clientKeyIn(text);
  } catch (error) {
    if (error instanceof SignInFault) throw invalidRequest('value', `can't be used: ${error.message}`);
    throw error;
  }
  return text.trim().replace(/\s*[\r\n]+\s*/g, ' ');
}

function refused(name: string, fault: string): BlockhouseError {
  return new BlockhouseError('TOOL_SERVER_REFUSED', `${name.slice(0, 64)}: ${fault}.`);
}

function otherDefinition(name: string): BlockhouseError {
  return new BlockhouseError('TOOL_NOT_APPROVED', `The entry of ${name} is not the one that was shown. Read it again: \`blockhouse tools ls\`.`);
}

function sentence(text: string): string | undefined {
  return text === '' ? undefined : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function error(place: string, problem: string, fix: string): Finding {
  return { severity: 'error', place, problem, fix };
}

function warning(place: string, problem: string, fix: string): Finding {
  return { severity: 'warning', place, problem, fix };
}
