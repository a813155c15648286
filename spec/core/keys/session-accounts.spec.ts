import t from 'tap';
import type { AccountedCall, ClientAccounts } from '../../../core/gateway/account.ts';
import { sessionAccounts } from '../../../core/keys/session-accounts.ts';

t.test('between the start and the end of a workspace its accounts decide; before and after, a key is refused and the token is not', async (t) => {
  const told: string[] = [];
  const open: ClientAccounts = {
    check: () => void told.push('check'),
    accept: () => void told.push('accept'),
    settle: () => void told.push('settle'),
  };
  let found: ClientAccounts | undefined;
  const accounts = sessionAccounts(() => found);
  const call = (key?: string) => ({ key, adapterId: 'a', model: 'm' }) as AccountedCall;
  t.equal(accounts.accept(call()), undefined);
  accounts.check(call(), true);
  for (const ask of [() => accounts.accept(call('app')), () => accounts.check(call('app'), true)])
    t.throws(ask, { code: 'WRONG_STATE', message: /the key app/ });
  accounts.settle({} as never, call('app'), undefined);
  t.same(told, []);
  found = open;
  accounts.check(call('app'), true);
  accounts.accept(call('app'));
  accounts.settle({} as never, call('app'), undefined);
  t.same(told, ['check', 'accept', 'settle']);
});
