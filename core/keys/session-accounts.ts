// The accounts of the workspace that is open, for a gateway that also works without one.
//
// checked-or-refused: while the limits of a key can't be checked, its calls are refused.
import { BlockhouseError } from '../errors.ts';
import type { Asking, ClientAccounts } from '../gateway/account.ts';

/** `find` gives the accounts between the start and the end of a workspace. */
export function sessionAccounts(find: () => ClientAccounts | undefined): ClientAccounts {
  const accountsFor = ({ key }: Asking): ClientAccounts | undefined => {
    const accounts = find();
    if (accounts !== undefined || key === undefined) return accounts;
    // checked-or-refused
    const message = `The limits of the key ${key} can't be checked, so its call was not made: a core needs a workspace and start(), and keeps accounts until close().`;
    throw new BlockhouseError('WRONG_STATE', message);
  };
  return {
    check: (asking, isRequest) => accountsFor(asking)?.check(asking, isRequest),
    accept: (call) => accountsFor(call)?.accept(call),
    settle: (end, call, hold) => find()?.settle(end, call, hold),
  };
}
