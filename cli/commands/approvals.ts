// `blockhouse approvals`, `approve`, `deny` and `run`: calls of tools that wait for a person, decisions, and what a run has done.
import { Command, Option } from 'clipanion';
import { shortId } from '../../core/base/short-id.ts';
import type { Decide, ShownApproval } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { answersIn, FormFiller } from '../input/form-answers.ts';
import { byId, entryIds } from '../input/id-prefix.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { isTerminal, oneLine, writeLines } from '../terminal/output.ts';
import { approvalCard, approvalTable, decisionText } from '../views/approval-text.ts';
import { runLines } from '../views/run-text.ts';

const category = 'Blocks';

/** Prints `{approvals}`, or a table. */
export class ApprovalsCommand extends ServerCommand {
  static override readonly paths = [['approvals']];
  static override readonly usage = Command.Usage({
    category,
    description: 'List the calls of tools that wait for you',
    details: 'Of all blocks, the next deadline first. `approve` and `deny` decide; any unique beginning of an id is enough.',
    examples: [
      ['What waits', '$0 approvals'],
      ['Of one block', '$0 approvals my-block'],
      ['One of them with all of its arguments', '$0 approvals --id a3f9'],
    ],
  });

  id = Option.String('--id', { description: 'Show this one, whole' });
  block = Option.String({ name: 'block', required: false });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      if (this.id !== undefined) {
        const approval = await oneApproval(api, this.id);
        await this.print({ approval }, this.json ? [] : approvalCard(approval, this.drawn()));
        return 'ok';
      }
      const approvals = await api.approvals(this.block);
      await this.print({ approvals }, this.json ? [] : approvalTable(approvals, this.drawn()));
      if (this.json) return 'ok';
      const [first] = approvals;
      if (first === undefined) await this.say('Nothing waits for you.');
      else await this.say(`\`${this.hint('approve', shortId(first.id))}\` approves the first; \`${this.hint('deny', shortId(first.id))}\` denies it.`);
      return 'ok';
    });
  }
}

/** One decision about a call. */
abstract class DecideCommand extends ServerCommand {
  note = Option.String('--note', { description: 'A word for the model' });
  id = Option.String({ name: 'approval' });
  protected input: string | undefined;

  /** Those of `--input`, or field by field at a terminal. */
  async #answers({ id, request = {} }: ShownApproval): Promise<NonNullable<Decide['input']>> {
    if (this.input !== undefined) return answersIn(this.input, request);
    const { stdin } = this.context;
    const filler = new FormFiller(request);
    if (filler.question === undefined) return filler.answers;
    if (!isTerminal(stdin) || !isTerminal(this.stderr))
      throw new CliError('usage', `The server asks for something: \`${this.hint('approvals', '--id', shortId(id))}\` shows it, and --input '{…}' answers it.`);
    const { createPrompter } = await import('../terminal/prompt.ts');
    const prompter = createPrompter({ input: stdin, output: this.stderr });
    try {
      for (let asked = filler.question; asked !== undefined; asked = filler.question) filler.take(await prompter.ask(asked, { hidden: false }));
    } finally {
      prompter.close();
    }
    return filler.answers;
  }

  /** Shows the call at a terminal and asks; elsewhere decides at once. */
  protected decide(question: string, body: Omit<Parameters<Api['decide']>[1], 'digest' | 'note'>): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const approval = await oneApproval(api, this.id);
      const isForm = approval.kind === 'input' && body.decision === 'approve';
      if (this.input !== undefined && !isForm)
        throw new CliError('usage', '--input answers a server that asks for something, and this call does not wait for that.');
      if (isTerminal(this.context.stdin) && isTerminal(this.stderr)) await writeLines(this.stderr, approvalCard(approval, this.drawn()));
      const input = isForm ? await this.#answers(approval) : undefined;
      if (!(await this.agreed(isForm ? 'Send this?' : question, () => true))) throw new CliError('unexpected', 'Nothing was decided.');
      const note = this.note === undefined ? {} : { note: this.note };
      const decided = await api.decide(approval.id, { ...body, digest: approval.digest, ...note, ...(input !== undefined && { input }) });
      await this.print(decided, []);
      if (!this.json) await this.say(oneLine(decisionText(decided.approval)));
      return 'ok';
    });
  }
}

/** Prints nothing, or `{approval}`. */
export class ApproveCommand extends DecideCommand {
  static override readonly paths = [['approve']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Approve a call that waits',
    details: `
      At a terminal, it shows the call and asks; elsewhere it decides at once. \`--always\` also allows all later calls of this tool, as long as its definition stays the same, and
      \`--same-arguments\` those with equal arguments: both write a rule into \`tools.allow\` of the block. Of a call whose outcome is not known, say \`--ran\` (with a note for the model),
      \`--not-ran\`, which calls it again, or \`--tell\`, which leaves it to the model. Where a server asks for something, a terminal asks for each field, and \`--input\` answers at once.
    `,
    examples: [
      ['This call', '$0 approve a3f9'],
      ['This call and all later ones', '$0 approve a3f9 --always'],
      ['What the server asks for', `$0 approve a3f9 --input '{"name": "Ada"}'`],
      ['It did run before the server ended', '$0 approve a3f9 --ran --note "The payment is in the book."'],
    ],
  });

  always = Option.Boolean('--always', false, { description: 'Allow later calls of this tool, too' });
  sameArguments = Option.Boolean('--same-arguments', false, { description: 'Allow later calls with equal arguments, too' });
  ran = Option.Boolean('--ran', false, { description: 'It ran, although nobody knows its outcome' });
  notRan = Option.Boolean('--not-ran', false, { description: 'It did not run, and is to be called' });
  protected override input = Option.String('--input', { description: 'What the server asks for, as JSON: \'{"name": "Ada"}\'' });
  tell = Option.Boolean('--tell', false, { description: 'Let the model find out' });

  protected override async run(): Promise<ExitKind> {
    const words = given({ ran: this.ran, 'not-ran': this.notRan, tell: this.tell });
    const scopes = given({ always: this.always, 'same-arguments': this.sameArguments });
    if (words.length + scopes.length > 1) throw new CliError('usage', 'Give one of --always, --same-arguments, --ran, --not-ran and --tell.');
    const [word] = words;
    const [scope] = scopes;
    if (word !== undefined) return this.decide('Say so?', { decision: word });
    return this.decide(scope === undefined ? 'Approve this call?' : 'Approve this call, and write the rule?', {
      decision: 'approve',
      ...(scope !== undefined && { scope }),
    });
  }
}

/** Prints nothing, or `{approval}`. */
export class DenyCommand extends DecideCommand {
  static override readonly paths = [['deny']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Deny a call that waits',
    details: 'The model reads that you have denied it, with your note, and goes on. A server that asks for something hears that you decline.',
    examples: [['With a word for the model', '$0 deny a3f9 --note "Not on a Friday."']],
  });

  protected override async run(): Promise<ExitKind> {
    return this.decide('Deny this call?', { decision: 'deny' });
  }
}

/** Prints `{messageId, records}`, or a timeline. */
export class RunCommand extends ServerCommand {
  static override readonly paths = [['run']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Show what a message with tools has done, step by step',
    details: 'Calls of the model and of tools with their times, who has approved them, and how they ended. `--json` prints the records of the journal.',
    examples: [['All steps of a message', '$0 run my-block m0mw']],
  });

  block = Option.String({ name: 'block' });
  message = Option.String({ name: 'message' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const found = await byId(
        this.message,
        () => entryIds(api, this.block),
        async (id) => {
          const { entry } = await api.message(this.block, id);
          return api.run(this.block, entry.replyTo ?? entry.id);
        },
      );
      await this.print(found, this.json ? [] : runLines(found, this.drawn()));
      return 'ok';
    });
  }
}

/** The names of the flags that are set. */
function given<const N extends string>(flags: Readonly<Record<N, boolean>>): readonly N[] {
  return (Object.keys(flags) as N[]).filter((name) => flags[name]);
}

/** The approval that a person means. */
function oneApproval(api: Api, given: string): Promise<ShownApproval> {
  return byId(
    given,
    async () => (await api.approvals()).map(({ id }) => id),
    async (id) => (await api.approval(id)).approval,
  );
}
