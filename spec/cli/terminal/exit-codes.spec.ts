import { readFileSync } from 'node:fs';
import t from 'tap';
import { CliError, EXIT_CODES, errorCodeOf, exitKindOf } from '../../../cli/terminal/exit-codes.ts';
import { BlockhouseError, ERROR_TABLE, type ErrorCode } from '../../../core/index.ts';

t.test('docs/cli.md lists exactly the exit codes of the table', async (t) => {
  const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) +\| (.*?) *\|$/gm)].map(([, code, meaning]) => ({ code: Number(code), meaning }));
  t.same(rows, Object.values(EXIT_CODES));
});

t.test('every error code has the exit code of its kind', async (t) => {
  const kindOf = (code: ErrorCode): string => exitKindOf(new BlockhouseError(code, ''));
  t.equal(kindOf('INVALID_REQUEST'), 'usage');
  t.equal(kindOf('ADAPTER_NOT_FOUND'), 'usage');
  t.equal(kindOf('ADAPTER_NOT_CONFIGURED'), 'credentials');
  t.equal(kindOf('UPSTREAM_AUTH'), 'credentials');
  t.equal(kindOf('CANCELLED'), 'interrupted');
  t.equal(kindOf('INTERNAL_ERROR'), 'unexpected');
  const others = (Object.keys(ERROR_TABLE) as ErrorCode[]).filter((code) => code.startsWith('UPSTREAM_') && code !== 'UPSTREAM_AUTH');
  for (const code of others) t.equal(kindOf(code), 'provider', code);
});

t.test('a failure that knows its kind keeps it, any other is unexpected', async (t) => {
  t.equal(exitKindOf(new CliError('place', 'no room')), 'place');
  t.equal(exitKindOf(new TypeError('x')), 'unexpected');
  t.equal(exitKindOf('text'), 'unexpected');
  t.equal(errorCodeOf(Object.assign(new Error('x'), { code: 7 })), undefined);
});
