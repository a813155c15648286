// What a conversation in PostgreSQL does not have yet: the journals of runs with tools. Blocks with `tools` are refused before any of this is called. Pure: no I/O.
import { BlockhouseError } from '../../errors.ts';
import type { RunRecord } from '../../types.ts';
import type { Claim } from '../port.ts';

/** The members for runs, of which none has anything. */
export class WithoutRuns {
  appendSteps(_claim: Claim | undefined, _messageId: string, _from: number, _records: readonly RunRecord[]): Promise<void> {
    return refused();
  }

  async steps(_messageId: string): Promise<readonly RunRecord[]> {
    return [];
  }

  async result(_messageId: string, _ref: string): Promise<undefined> {
    return undefined;
  }

  keepResult(_claim: Claim, _messageId: string, _ref: string, _bytes: Uint8Array): Promise<void> {
    return refused();
  }

  async clearSteps(): Promise<number> {
    return 0;
  }
}

function refused(): Promise<never> {
  return Promise.reject(
    new BlockhouseError('WRONG_STATE', "A database keeps no journals of runs yet, so its blocks can't call tools. Remove `tools` from the configuration."),
  );
}
