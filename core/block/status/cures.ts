// What a person can do about the state of a block, as actions of a closed set that a page has buttons for. Pure: no I/O.
import type { Cure, Failures } from '../../schemas/block-api.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { BlockPulse } from '../../schemas/block-pulse.ts';

/** What an explanation is made from. */
export interface ToExplain {
  readonly name: string;
  readonly config: BlockConfig;
  readonly pulse: BlockPulse;
  readonly failures: Failures;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The most helpful first; empty when nothing has to be done. */
export function curesOf({ config, pulse, failures }: ToExplain): readonly Cure[] {
  const { state, reason } = pulse;
  const cures: Cure[] = [];
  if (state === 'unconfigured' || state === 'paused' || state === 'failed' || state === 'backoff') {
    if (config.adapter === null) cures.push(CHOOSE_MODEL);
    else cures.push(...(curesFor(reason?.code ?? '')?.(config.adapter.provider) ?? (state === 'unconfigured' ? [setKey(config.adapter.provider)] : [])));
  }
  if (state === 'failed' || (state === 'paused' && reason?.code !== 'HALTED' && reason?.code !== 'BUDGET_REACHED'))
    cures.push({ id: 'start', label: 'Start again' });
  if (state === 'backoff') cures.push({ id: 'start', label: 'Try now' });
  if (state === 'stopped') cures.push({ id: 'start', label: 'Start' });
  if (failures.last !== null) cures.push({ id: 'retry-message', label: 'Try the failed message again', field: failures.last.id });
  return cures;
}

const CHOOSE_MODEL: Cure = { id: 'choose-model', label: 'Choose a model…' };
const OTHER_MODEL: Cure = { id: 'choose-model', label: 'Use another model…', field: 'adapter.model' };
const RAISE_CAP: Cure = { id: 'raise-cap', label: 'Raise the cap…', field: 'budget' };
const FREE_DISK: Cure = { id: 'free-disk', label: 'Free some space on the disk' };
const EDIT: Cure = { id: 'edit-config', label: 'Edit the configuration…' };

function setKey(adapter: string): Cure {
  return { id: 'set-key', label: `Set the ${adapter} key…`, adapter };
}

const BY_REASON: Readonly<Record<string, (provider: string) => readonly Cure[]>> = {
  ADAPTER_NOT_CONFIGURED: (provider) => [setKey(provider)],
  UPSTREAM_AUTH: (provider) => [setKey(provider), OTHER_MODEL],
  UPSTREAM_REJECTED: () => [OTHER_MODEL],
  INVALID_REQUEST: () => [EDIT],
  NOT_CONFIGURED: () => [CHOOSE_MODEL],
  HALTED: () => [{ id: 'unhalt', label: 'Release the kill switch' }],
  BUDGET_REACHED: () => [RAISE_CAP],
  STORAGE_FULL: () => [FREE_DISK],
  STORAGE_FAILED: () => [FREE_DISK],
  BLOCK_DAMAGED: () => [{ id: 'open-file', label: 'Repair the file' }],
  WORKSPACE_DAMAGED: () => [{ id: 'open-file', label: 'Repair the file' }],
};

/** A code may come from a file, and so be any word. */
function curesFor(code: string): ((provider: string) => readonly Cure[]) | undefined {
  return Object.hasOwn(BY_REASON, code) ? BY_REASON[code] : undefined;
}
