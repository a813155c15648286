// The kill switch of a workspace: while it is set, no monitor calls a model.
//
// stored-is-truth: the switch is stored, so that it outlives the process and can be set by hand: even an empty `halted.json` halts, and one that can't be read.
// halt-anyway: if the store refuses it, the switch is still set until the server ends, and the caller gets an error that says so.
import { isObject, tryParseJson } from '../base/json.ts';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError } from '../errors.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import { type HaltState, SetHalt } from '../schemas/workspace-api.ts';
import type { Setting, SettingCodec, SettingState, SettingStore } from '../store/port.ts';

const checkBody: Validator<SetHalt> = compile(SetHalt);
const RELEASED: HaltState = { halted: false, since: null, reason: null };

const HALT: SettingCodec<HaltState> = {
  parse: (text) => (text === undefined ? RELEASED : describe(tryParseJson(text))),
  format: ({ halted, ...note }) => (halted ? `${JSON.stringify(note, null, 2)}\n` : undefined),
};

/** The kill switch of one workspace. */
export class HaltSwitch {
  /** stored-is-truth. */
  readonly #setting: Setting<HaltState>;
  readonly #bus: CoreBus;
  readonly #now: () => number;
  /** halt-anyway. */
  #unwritten: HaltState | undefined;
  #isTold = false;

  /** `now` in epoch milliseconds. */
  constructor(settings: SettingStore, bus: CoreBus, now: () => number) {
    this.#bus = bus;
    this.#now = now;
    this.#setting = settings.open('halt', HALT, (state) => this.#take(stored(state), undefined));
  }

  state(): HaltState {
    const state = this.#setting.now();
    return this.#unwritten ?? stored(state);
  }

  async set(body: unknown): Promise<HaltState> {
    checkBody(body);
    const note: HaltState = { halted: true, since: new Date(this.#now()).toISOString(), reason: body.reason ?? null };
    // The blocks wait with the reason that was given first.
    const first = (now: HaltState): HaltState => [this.#unwritten, now].find((one) => one?.halted) ?? note;
    try {
      await this.#setting.update((state) => first(stored(state)));
    } catch (error) {
      const failure = failureOf(error);
      const state = stored(this.#setting.now());
      if (state.halted) throw failure; // what is stored already halts
      this.#take(state, first(state));
      throw new BlockhouseError(failure.code, UNWRITTEN, { cause: failure });
    }
    return this.state();
  }

  async release(): Promise<HaltState> {
    try {
      await this.#setting.update(() => RELEASED);
    } catch (error) {
      throw failureOf(error);
    }
    this.#take(stored(this.#setting.now()), undefined);
    return this.state();
  }

  #take(state: HaltState, unwritten: HaltState | undefined): void {
    this.#unwritten = unwritten;
    const { halted, reason } = unwritten ?? state;
    if (halted !== this.#isTold) this.#bus.emit('workspace.halted', { halted, reason });
    this.#isTold = halted;
  }
}

const UNWRITTEN =
  "All blocks are halted, but halted.json can't be written, so the halt ends when the server stops. Make the workspace writable and run `blockhouse halt` again.";

function failureOf(error: unknown): BlockhouseError {
  if (error instanceof BlockhouseError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new BlockhouseError('STORAGE_FAILED', `halted.json can't be written or removed (${code ?? message}). Nothing was changed.`, { cause: error });
}

function stored({ good = RELEASED, fault }: SettingState<HaltState>): HaltState {
  return fault === undefined ? good : describe(undefined);
}

function describe(json: unknown): HaltState {
  const text = (field: string): string | null => {
    const value = isObject(json) ? json[field] : undefined;
    return typeof value === 'string' ? value : null;
  };
  return { halted: true, since: text('since'), reason: text('reason') };
}
