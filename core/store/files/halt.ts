// The kill switch of a workspace: while it is set, no monitor calls a model.
//
// file-is-truth: the switch is a file, so that it outlives the process and can be set by hand: even an empty `halted.json` halts.
// halt-anyway: if the file can't be written, the switch is still set until the server ends, and the caller gets an error that says so.
import { existsSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isObject, tryParseJson } from '../../base/json.ts';
import type { CoreBus } from '../../bus.ts';
import { BlockhouseError } from '../../errors.ts';
import { compile, type Validator } from '../../schemas/validate.ts';
import { type HaltState, SetHalt } from '../../schemas/workspace-api.ts';
import { replaceFile, storageFailure, syncFolder } from './atomic-file.ts';
import { formatFile } from './block/document-codecs.ts';
import { FreshFile } from './fresh-file.ts';

const checkBody: Validator<SetHalt> = compile(SetHalt);
const RELEASED: HaltState = { halted: false, since: null, reason: null };

/** The kill switch of one workspace. */
export class HaltSwitch {
  /** file-is-truth. */
  readonly #file: FreshFile;
  readonly #bus: CoreBus;
  readonly #now: () => number;
  #state = RELEASED;
  #isFirst = true;

  /** `now` in epoch milliseconds. */
  constructor(workspace: string, bus: CoreBus, now: () => number) {
    this.#bus = bus;
    this.#now = now;
    this.#file = new FreshFile(join(workspace, 'halted.json'), (state) => {
      const json = state.kind === 'text' ? tryParseJson(state.text) : undefined;
      this.#take(state.kind === 'missing' ? RELEASED : describe(json));
    });
  }

  state(): HaltState {
    this.#file.refresh();
    return this.#state;
  }

  async set(body: unknown): Promise<HaltState> {
    checkBody(body);
    this.#file.refresh(true);
    const { halted, since, reason } = this.#state;
    // The blocks wait with the reason that was given first.
    const note = halted ? { since, reason } : { since: new Date(this.#now()).toISOString(), reason: body.reason ?? null };
    await replaceFile(this.#file.path, formatFile(note)).catch((error: unknown) => {
      const failure = storageFailure("halted.json can't be written", error);
      if (existsSync(this.#file.path)) throw failure; // the existing file already halts
      this.#take({ halted: true, ...note }); // halt-anyway
      throw new BlockhouseError(failure.code, UNWRITTEN, { cause: failure });
    });
    this.#file.refresh(true);
    return this.#state;
  }

  async release(): Promise<HaltState> {
    await unlink(this.#file.path).then(
      () => syncFolder(dirname(this.#file.path)),
      (error: NodeJS.ErrnoException) => {
        // Another caller may set the switch right after this one found no file. A read-only disk reports an error even if there is no file.
        if (error.code !== 'ENOENT' && existsSync(this.#file.path)) throw storageFailure("halted.json can't be written or removed", error);
      },
    );
    this.#file.refresh(true);
    if (!existsSync(this.#file.path)) this.#take(RELEASED); // halt-anyway
    return this.#state;
  }

  #take(state: HaltState): void {
    const isChange = state.halted !== this.#state.halted;
    this.#state = state;
    if (isChange || (this.#isFirst && state.halted)) this.#bus.emit('workspace.halted', { halted: state.halted, reason: state.reason });
    this.#isFirst = false;
  }
}

const UNWRITTEN =
  "All blocks are halted, but halted.json can't be written, so the halt ends when the server stops. Make the workspace writable and run `blockhouse halt` again.";

function describe(json: unknown): HaltState {
  const text = (field: string): string | null => {
    const value = isObject(json) ? json[field] : undefined;
    return typeof value === 'string' ? value : null;
  };
  return { halted: true, since: text('since'), reason: text('reason') };
}
