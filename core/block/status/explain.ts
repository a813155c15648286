// Explains a block: why it is in its state, what happens next and when, which message failed, and which command helps.
// Pure: no I/O.
import type { Explanation, Failures } from '../../schemas/block-api.ts';
import type { BlockPulse, BlockState } from '../../schemas/block-pulse.ts';
import { curesOf, type ToExplain } from './cures.ts';

const SHOWN_TRANSITIONS = 10;

/** The explanation of a block as it is now. */
export function explain(input: ToExplain): Explanation {
  const { name, pulse, failures } = input;
  const { state, status, attention, reason, queue, transitions } = pulse;
  return {
    name,
    state,
    status,
    attention,
    reason,
    why: WHY[state](input),
    next: NEXT[state](input),
    fix: FIX[state]?.(input) ?? (failures.last === null ? null : retryCommand(name, failures.last.id)),
    since: transitions.findLast(({ to }) => to === state)?.at ?? (state === 'stopped' ? pulse.stoppedAt : null),
    queue,
    failures,
    failed: failedText(name, failures),
    lastTransitions: transitions.slice(-SHOWN_TRANSITIONS),
    actions: curesOf(input),
  };
}

/** `2 messages have failed since 2026-11-20 14:03 UTC. …`; null when none has. */
function failedText(name: string, { count, since, last }: Failures): string | null {
  if (last === null) return null;
  const many =
    count === 1 ? `Message ${last.id} failed at ${minute(last.at)}` : `${count} messages have failed since ${minute(since)}. The last one is ${last.id}`;

  return `${many} (${last.code}): ${sentence(last.message)} Retry it with \`${retryCommand(name, last.id)}\`.`;
}

function retryCommand(name: string, id: string): string {
  return `blockhouse queue ${name} --retry ${/^[\w-]+$/.test(id) ? id : '<id>'}`;
}

/** `2026-11-20 14:03 UTC`; text that is not a time stays as it is. */
function minute(time: string | null): string {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? (time ?? 'an unknown time') : `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

type Teller<T> = Readonly<Record<BlockState, (input: ToExplain) => T>>;

const WHY: Teller<string> = {
  unconfigured: ({ config: { adapter }, pulse: { reason } }) => {
    if (adapter === null) return 'No model is set.';
    return reason?.message ?? `Its provider ${JSON.stringify(adapter.provider)} has no credentials or does not exist.`;
  },
  stopped: () => 'Its monitor is stopped.',
  starting: () => 'Its monitor is starting and checks the chat.',
  idle: () => 'Its monitor is running and no messages are waiting.',
  working: ({ pulse: { currentTask }, now }) => {
    if (currentTask === null) return 'A message is being answered.';
    const { attempt, phase, outputChars, step, steps, tool, toolSince } = currentTask;
    const since = toolSince === undefined ? '' : `, since ${Math.max(0, Math.round((now - Date.parse(toolSince)) / 1000))} s`;
    if (phase === 'calling-tool') return `It calls ${tool ?? 'a tool'}, step ${step ?? 1} of ${steps ?? 1}${since}.`;
    const done = phase === 'streaming' ? `${outputChars} characters have arrived` : (PHASES[phase] ?? phase);
    return `A message is being answered${attempt > 1 ? `, attempt ${attempt}` : ''}: ${done}.`;
  },
  compacting: () => 'Older messages are being summarised, because its memory window is full or somebody asked for it.',
  backoff: ({ pulse: { reason, error } }) => `The last attempt failed: ${sentence(reason?.message ?? error ?? 'the cause is unknown')}`,
  paused: ({ pulse: { reason } }) => sentence(reason?.message ?? 'Its monitor is paused'),
  'waiting-approval': ({ pulse: { reason } }) => sentence(reason?.message ?? 'A message waits for a decision'),
  stopping: () => 'Its monitor is stopping and finishes the current reply.',
  failed: ({ pulse: { reason, error } }) => sentence(reason?.message ?? error ?? 'Its monitor gave up; the log shows why'),
};

const PHASES: Readonly<Record<string, string>> = {
  'waiting-model': 'the model has not started to answer',
  checking: 'the calls that the model asks for are checked',
  concluding: 'the model concludes without tools',
  saving: 'the answer is being saved',
  compacting: 'older messages are being summarised',
};

/** After a change of `enabled` by hand or with `config set`, which stops no monitor. */
const ENDS_WITH_SERVER = ' It will not start again with the server, because `enabled` is false.';

const CURES_OF_FAILURE = 'its configuration or auth.json changes, or somebody starts it';

const NEXT: Teller<string> = {
  unconfigured: ({ pulse }) => `Nothing until it is configured; ${waiting(pulse)}.`,
  stopped: ({ config, pulse }) => {
    if (config.enabled) return `It will start when the server next starts; ${waiting(pulse)}.`;
    return config.autoStart ? 'The next message will start it.' : `Nothing until it is started; ${waiting(pulse)}.`;
  },
  starting: ({ pulse }) => (pulse.queue.queued > 0 ? 'It will answer the first waiting message.' : 'It will wait for messages.'),
  idle: ({ config }) => `It will answer the next message as soon as it arrives.${config.enabled ? '' : ENDS_WITH_SERVER}`,
  working: ({ pulse }) => `The answer will be saved when it is complete${pulse.queue.queued > 0 ? `; ${waiting(pulse)} behind it` : ''}.`,
  compacting: ({ pulse }) => (pulse.queue.queued > 0 ? 'Then it will answer the next message.' : 'Then it will wait for messages.'),
  backoff: (input) => (input.pulse.nextWakeUp === null ? 'It will retry soon.' : `It will retry ${moment(input)}.`),
  paused: (input) => {
    const until = input.pulse.nextWakeUp === null ? 'Nothing until the cause is removed' : `It will check again ${moment(input)}`;
    return `${until}; ${waiting(input.pulse)}, and no model is called.`;
  },
  'waiting-approval': (input) => {
    const until = input.pulse.nextWakeUp === null ? '' : ` If nobody does, the time for it ends ${moment(input)}.`;
    return `The message goes on when somebody has decided.${refusal(input)}${until}`;
  },
  stopping: () => 'It will stop within seconds; a reply that is not finished by then is kept as interrupted.',
  failed: ({ pulse }) => {
    const cure = pulse.reason?.code === 'BLOCK_DAMAGED' ? 'the file is repaired (no restart is needed)' : CURES_OF_FAILURE;
    return `Nothing until ${cure}; ${waiting(pulse)}.`;
  },
};

/** The other half of the command that approves: who reads why must not look for it. */
function refusal({ pulse: { reason } }: ToExplain): string {
  const [, id] = /^blockhouse approve (\w+)$/.exec(reason?.fix ?? '') ?? [];
  return id === undefined ? '' : ` \`blockhouse deny ${id}\` refuses it.`;
}

/** The other states need no person. */
const FIX: Partial<Teller<string | null>> = {
  unconfigured: ({ name, config: { adapter }, pulse: { reason } }) => {
    if (adapter === null) return setModel(name);
    return reason?.code === 'INVALID_REQUEST' ? reason.fix : setKey(adapter.provider);
  },
  stopped: ({ name }) => `blockhouse start ${name}`,
  backoff: ({ pulse: { reason } }) => reason?.fix ?? null,
  paused: ({ name, pulse: { reason } }) => reason?.fix ?? `blockhouse start ${name}`,
  'waiting-approval': ({ pulse: { reason } }) => reason?.fix ?? 'blockhouse approvals',
  failed: (input) => fixOfFailure(input) ?? input.pulse.reason?.fix ?? `blockhouse start ${input.name}`,
};

/** The fix in pulse.json may be older than the configuration. This one has the current names. */
function fixOfFailure({ name, config: { adapter }, pulse: { reason } }: ToExplain): string | undefined {
  switch (reason?.code) {
    case 'NOT_CONFIGURED':
      return setModel(name);
    case 'ADAPTER_NOT_CONFIGURED':
    case 'UPSTREAM_AUTH':
      return adapter === null ? setModel(name) : setKey(adapter.provider);
    case 'UPSTREAM_REJECTED':
      return `blockhouse config set ${name} adapter.model=<model>`;
    default:
      return undefined;
  }
}

function setModel(name: string): string {
  return `blockhouse config set ${name} adapter.provider=<id> adapter.model=<model>`;
}

/** config.json may name anything as a provider. Only a valid id goes into a command. */
function setKey(provider: string): string {
  return `blockhouse auth set ${/^[a-z][a-z0-9-]*$/.test(provider) ? provider : '<id>'}`;
}

function waiting({ queue: { queued } }: BlockPulse): string {
  if (queued === 0) return 'no messages are waiting';
  return queued === 1 ? '1 message is waiting' : `${queued} messages are waiting`;
}

/** `text` with exactly one full stop at its end. */
function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** `at 14:03:22 UTC, in 12 s`; with the date where it is another day. */
function moment({ pulse: { nextWakeUp }, now }: ToExplain): string {
  const at = Date.parse(nextWakeUp ?? '');
  if (Number.isNaN(at)) return 'soon';
  const [day = '', time = ''] = new Date(at).toISOString().split('T');
  const isToday = new Date(now).toISOString().startsWith(day);
  return `at ${isToday ? '' : `${day} `}${time.slice(0, 8)} UTC, ${fromNow(at - now)}`;
}

const UNITS = [
  { word: 'd', seconds: 86_400 },
  { word: 'h', seconds: 3600 },
  { word: 'min', seconds: 60 },
  { word: 's', seconds: 1 },
] as const;

/** The two greatest units: `in 9 h 57 min`. */
function fromNow(ms: number): string {
  let rest = Math.ceil(ms / 1000);
  if (rest <= 0) return 'now';
  const parts: string[] = [];
  for (const { word, seconds } of UNITS) {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    if (count > 0) parts.push(`${count} ${word}`);
    else if (parts.length > 0) break;
  }
  return `in ${parts.slice(0, 2).join(' ')}`;
}
