import { PassThrough } from 'node:stream';
import { Cli, Option } from 'clipanion';
import t from 'tap';
import { ServerCommand } from '../../../cli/command/server-command.ts';
import { CliError, type ExitKind } from '../../../cli/terminal/exit-codes.ts';

type Work = (name: string) => Promise<{ message: string }>;

async function outcomeOf(work: Work, args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  class Each extends ServerCommand {
    static override readonly paths = [['each']];
    names = Option.Rest();
    protected override run(): Promise<ExitKind> {
      return this.forEach(this.names, work);
    }
  }
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const code = await Cli.from([Each]).run(['each', ...args], { ...Cli.defaultContext, stdout, stderr, env: {} });
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}

const kinds: Record<string, CliError> = {
  odd: new CliError('usage', 'There is no block odd.'),
  torn: new CliError('place', 'config.json is damaged', undefined, { code: 'BLOCK_DAMAGED', status: 409 }),
  away: new CliError('server', 'no answer'),
};
const work: Work = async (name) => {
  const error = kinds[name];
  if (error !== undefined) throw error;
  return { message: `${name} runs.` };
};

t.test('each outcome is told, one failure keeps no other from its turn, and the worst gives the exit code', async (t) => {
  t.same(await outcomeOf(work, ['a', 'torn', 'odd', 'b', 'a']), {
    code: 5,
    stdout: '',
    stderr: 'a runs.\nblockhouse: torn: config.json is damaged\nblockhouse: There is no block odd.\nb runs.\n',
  });
  t.equal((await outcomeOf(work, ['a', 'b'])).code, 0);
});

t.test('with --json there is one document for all', async (t) => {
  const { stdout, code } = await outcomeOf(work, ['a', 'torn', '--json']);
  t.equal(code, 5);
  t.same(JSON.parse(stdout), {
    results: [
      { name: 'a', message: 'a runs.' },
      { name: 'torn', success: false, code: 'BLOCK_DAMAGED', status: 409, error: 'config.json is damaged' },
    ],
  });
});

t.test('a server that is away ends it at once, and a defect is no outcome', async (t) => {
  t.match(await outcomeOf(work, ['away', 'a']), { code: 6, stderr: 'blockhouse: no answer\n' });
  t.equal((await outcomeOf(() => Promise.reject(new TypeError('x')), ['a'])).code, 1);
});
