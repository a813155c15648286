import t from 'tap';
import { crashLoopReason, crashReason, faultReason, haltReason, stalledReason, unconfiguredReason } from '../../../../core/block/status/reasons.ts';
import { BlockhouseError, ERROR_TABLE, type ErrorCode, invalidRequest } from '../../../../core/errors.ts';
import { notTrusted } from '../../../../core/gateway/egress.ts';

t.test('a failure that a person can fix says how', async (t) => {
  const cures: Partial<Record<ErrorCode, RegExp>> = {
    UPSTREAM_AUTH: /blockhouse auth set .* blockhouse start ada/,
    ADAPTER_NOT_CONFIGURED: /blockhouse auth set/,
    UPSTREAM_REJECTED: /blockhouse config edit ada/,
    INVALID_REQUEST: /blockhouse config edit ada/,
    BLOCK_DAMAGED: /blockhouse doctor/,
    WORKSPACE_DAMAGED: /blockhouse doctor/,
    STORAGE_FULL: /space/,
    STORAGE_FAILED: /writable/,
  };
  for (const code of Object.keys(ERROR_TABLE) as ErrorCode[]) {
    const reason = faultReason('ada', new BlockhouseError(code, 'What was met.'));
    t.match(reason, { code, message: 'What was met.' });
    const cure = cures[code];
    if (cure === undefined) t.equal(reason.fix, null, code);
    else t.match(reason.fix, cure, code);
  }
});

t.test('a failure names the field of config.json', async (t) => {
  const told = (failure: BlockhouseError): string => faultReason('ada', failure).message;
  t.equal(told(invalidRequest('config.region', 'is wrong')), 'config.adapter.region is wrong.');
  t.equal(told(invalidRequest('config.baseURL', 'is wrong')), 'config.adapter.baseURL is wrong.');
  t.equal(told(invalidRequest('config.adapter.baseURL', 'is wrong')), 'config.adapter.baseURL is wrong.');
  t.equal(told(new BlockhouseError('ADAPTER_NOT_CONFIGURED', 'config.region is a word here.')), 'config.region is a word here.');
  t.match(told(notTrusted('http://127.0.0.1:1')), /^config\.adapter\.baseURL is at http:.* BLOCKHOUSE_ALLOWED_ORIGINS\.$/, 'a block has no key to bring');
});

t.test('a block without a model names the command that sets one', async (t) => {
  t.match(unconfiguredReason('ada'), { code: 'NOT_CONFIGURED', fix: /blockhouse config set ada/ });
});

t.test('the reason of the kill switch says why it was set, if that is known', async (t) => {
  t.strictSame(haltReason({ halted: true, since: null, reason: 'Too dear' }), {
    code: 'HALTED',
    message: 'The kill switch is set: Too dear.',
    fix: 'blockhouse unhalt',
  });
  t.equal(haltReason({ halted: true, since: null, reason: null }).message, 'The kill switch is set.');
});

t.test('a message whose attempt ended without an outcome waits', async (t) => {
  t.match(stalledReason(), { code: 'WAITING', message: /will be retried later/, fix: null });
});

t.test('a defect is named by its code or its class only, for its text may hold anything', async (t) => {
  const secret = 'the text of a message';
  for (const [error, fault] of [
    [Object.assign(new Error(secret), { code: 'EPIPE' }), 'EPIPE'],
    [Object.assign(new TypeError(secret), { code: 5 }), 'TypeError'],
    [secret, 'unknown'],
  ] as const)
    t.same(crashReason(error), { code: 'CRASHED', message: `The monitor hit an unexpected error (${fault}) and is restarting.`, fix: null });
});

t.test('many defects in a row say what the last one was, and where to look', async (t) => {
  const { message, fix, code } = crashLoopReason('ada', 5, crashReason(new RangeError('x')));
  t.equal(code, 'CRASH_LOOP');
  t.match(message, /5 unexpected errors within ten minutes\. .*\(RangeError\)/);
  t.equal(fix, 'blockhouse logs ada, then blockhouse start ada');
  t.match(crashLoopReason('ada', 5, null).message, /The last one: unknown$/);
});
