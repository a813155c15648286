import { PassThrough } from 'node:stream';
import { Cli } from 'clipanion';
import t from 'tap';
import { BaseCommand } from '../../../cli/command/command.ts';
import { CliError, type ExitKind } from '../../../cli/terminal/exit-codes.ts';
import { BlockhouseError } from '../../../core/index.ts';

async function outcomeOf(failure: unknown, args: string[] = [], env: Record<string, string> = {}): Promise<{ code: number; stdout: string; stderr: string }> {
  class Failing extends BaseCommand {
    static override readonly paths = [['fail']];
    protected override run(): Promise<ExitKind> {
      return Promise.reject(failure);
    }
  }
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const code = await Cli.from([Failing]).run(['fail', ...args], { ...Cli.defaultContext, stdout, stderr, env });
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}

t.test('a failure is one line and an exit code', async (t) => {
  t.same(await outcomeOf(new CliError('place', 'no\nroom\x1b[1m')), { code: 5, stdout: '', stderr: 'blockhouse: no room\n' });
  t.same(await outcomeOf(new BlockhouseError('QUEUE_FULL', 'full')), { code: 1, stdout: '', stderr: 'blockhouse: full\n' });
});

t.test('with --json it is a document, too', async (t) => {
  const { stdout, code } = await outcomeOf(new BlockhouseError('UPSTREAM_AUTH', 'refused', { upstreamStatus: 401 }), ['--json']);
  t.equal(code, 3);
  t.same(JSON.parse(stdout), { error: 'refused', status: 502, code: 'UPSTREAM_AUTH', upstreamStatus: 401, retryable: false });
  t.same(JSON.parse((await outcomeOf(new CliError('usage', 'no'), ['--json'])).stdout), { error: 'no' });
});

t.test('the text of a defect stays inside, unless the log level asks for it', async (t) => {
  for (const defect of [new TypeError('canary'), new BlockhouseError('INTERNAL_ERROR', 'inside', { cause: new TypeError('canary') })]) {
    const quiet = await outcomeOf(defect);
    t.match(quiet, { code: 1, stderr: /^blockhouse: Blockhouse has a bug \(TypeError\)\. .*\n$/ });
    t.notMatch(quiet.stderr, 'canary');
    t.match((await outcomeOf(defect, [], { BLOCKHOUSE_LOG_LEVEL: 'debug' })).stderr, 'canary');
  }
});

t.test('an interruption says nothing', async (t) => {
  t.same(await outcomeOf(new CliError('interrupted', 'interrupted')), { code: 130, stdout: '', stderr: '' });
});
