// The reasons in pulse.json: why a monitor waits or has given up. Pure: no I/O.
import type { BlockhouseError } from '../../errors.ts';
import { BRING_OWN_KEY } from '../../gateway/egress.ts';
import type { Reason } from '../../schemas/block-pulse.ts';
import type { HaltState } from '../../schemas/workspace-api.ts';

/** A failure of a model call, or of the disk, as the reason of a state. */
export function faultReason(block: string, failure: BlockhouseError): Reason {
  const { code } = failure;
  return { code, message: messageForBlock(failure), fix: fixOf(block, code) };
}

/** The message as it is for a block, which has the fields of a chat request under `adapter`, and no key of its own. */
export function messageForBlock({ message, details }: BlockhouseError): string {
  const path = details?.[0]?.path ?? '';
  const [, name] = /^config\.(baseURL|region)$/.exec(path) ?? [];
  const text = message.replace(BRING_OWN_KEY, '');
  return name === undefined ? text : text.replace(path, `config.adapter.${name}`);
}

function fixOf(block: string, code: string): string | null {
  switch (code) {
    case 'UPSTREAM_AUTH':
    case 'ADAPTER_NOT_CONFIGURED':
      return `blockhouse auth set <id>, or blockhouse start ${block} to try again`;
    case 'UPSTREAM_REJECTED':
    case 'INVALID_REQUEST':
      return `blockhouse config edit ${block}`;
    case 'BLOCK_DAMAGED':
    case 'WORKSPACE_DAMAGED':
      return 'Repair the file; blockhouse doctor shows what is wrong with it.';
    case 'STORAGE_FULL':
      return 'Free some space on the disk that has the workspace.';
    case 'STORAGE_FAILED':
      return 'Make the workspace writable.';
    default:
      return null;
  }
}

/** No model is set. */
export function unconfiguredReason(block: string): Reason {
  return { code: 'NOT_CONFIGURED', message: 'No model is set.', fix: `blockhouse config set ${block} 'adapter={"provider":"…","model":"…"}'` };
}

/** The kill switch is set. */
export function haltReason({ reason }: HaltState): Reason {
  return { code: 'HALTED', message: `The kill switch is set${reason === null ? '' : `: ${reason}`}.`, fix: 'blockhouse unhalt' };
}

/** An attempt ended without an outcome, so its message waits for a while. */
export function stalledReason(): Reason {
  return { code: 'WAITING', message: 'The last attempt to answer the next message ended without a result; it will be retried later.', fix: null };
}

/** A defect inside the monitor. Its text may hold anything, so only its code or class is shown. */
export function crashReason(error: unknown): Reason {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const fault = typeof code === 'string' ? code : error instanceof Error ? error.name : 'unknown';
  return { code: 'CRASHED', message: `The monitor hit an unexpected error (${fault}) and is restarting.`, fix: null };
}

/** Too many defects within ten minutes. */
export function crashLoopReason(block: string, crashes: number, last: Reason | null): Reason {
  return {
    code: 'CRASH_LOOP',
    message: `The monitor hit ${crashes} unexpected errors within ten minutes. The last one: ${last?.message ?? 'unknown'}`,
    fix: `blockhouse logs ${block}, then blockhouse start ${block}`,
  };
}
