// A call that waits for a person: what it would do, why it asks, and the ways to decide.
//
// no-slip: nothing is decided by Enter, by a key that is held down, or without the focus on the card; and a card that is decided stays where it is.
import { useState } from 'preact/hooks';
import type { ShownApproval } from '../../../core/types.ts';
import { useKeys } from '../base/keys.ts';
import { tellFailure } from '../base/toast.ts';
import { approvals, type Decision, decide, type More, ownDecisions } from '../data/approvals.ts';
import { blockPath } from '../data/route.ts';
import { becauseText, decidedText, inboxText, marksText, ruleLead, taintText } from '../text/approvals.ts';
import { WORDS } from '../text/common.ts';
import { Dialog, showDialog } from './dialog.tsx';
import { Field } from './fields.tsx';
import { Arguments, shownText, Visible } from './hidden.tsx';
import { Menu } from './menu.tsx';
import { Ago, Button, Problem } from './widgets.tsx';

type Scope = ShownApproval['scopes'][number];
type Act = (decision: Decision, more?: More) => Promise<void>;

/** The card. In the inbox it names its block. */
export function ApprovalCard({ approval, isInInbox = false }: { readonly approval: ShownApproval; readonly isInInbox?: boolean }) {
  const { id, block, messageId, tool, state, expiresAt, because, kind } = approval;
  const [failure, setFailure] = useState<unknown>();
  const act: Act = async (decision, more) => {
    setFailure(undefined);
    await decide(approval, decision, more).catch(setFailure);
  };
  const isPending = state === 'pending';
  const Name = isInInbox ? 'h2' : 'h3';
  return (
    <article class={`approval ${kind} ${isPending ? '' : 'decided'}`} data-approval={id} tabIndex={-1} aria-label={`${inboxText.call}: ${tool}`}>
      <header class="row wrap">
        <Name class="mono break">
          <Visible text={tool} />
        </Name>
        {isInInbox && (
          <a href={blockPath(block, 'chat', { at: messageId })} class="acc break">
            {block}
          </a>
        )}
        <span class="grow" />
        {isPending && (
          <span class="sm t2">
            {inboxText.expires} <Ago at={expiresAt} />
          </span>
        )}
      </header>
      <p>{becauseText(because)}</p>
      <Facts approval={approval} />
      {failure !== undefined && <Problem error={failure} />}
      {isPending ? <Choices approval={approval} act={act} /> : <Decided approval={approval} />}
    </article>
  );
}

function Facts({ approval: { arguments: args, marks, readBefore, taint = [], block } }: { readonly approval: ShownApproval }) {
  return (
    <>
      <Arguments of={args} />
      {Object.keys(args).length === 0 && <p class="t2">{inboxText.noArguments}</p>}
      <p class="row wrap">
        {marksText(marks).map(([text, isWarning]) => (
          <span key={text} class={`chip ${isWarning ? 'warn' : ''}`}>
            {text}
          </span>
        ))}
      </p>
      {readBefore.length > 0 && (
        <p class="sm t2 break">
          {inboxText.readBefore}: <Visible text={readBefore.join(', ')} />
        </p>
      )}
      {taint.length > 0 && (
        <p class="sm t2 break">
          {inboxText.outside}:{' '}
          {taint.map((each, index) => (
            <>
              {index > 0 && ', '}
              <a href={blockPath(block, 'chat', { at: each.messageId })}>{taintText(each)}</a>
            </>
          ))}
        </p>
      )}
    </>
  );
}

function Decided({ approval }: { readonly approval: ShownApproval }) {
  const { id, decidedAt, note } = approval;
  return (
    <p class="t2" role="status">
      <b class="b">{decidedText(approval, ownDecisions.has(id))}</b> {decidedAt !== undefined && <Ago at={decidedAt} />}
      {note !== undefined && (
        <>
          : <Visible text={note} />
        </>
      )}
    </p>
  );
}

function Choices({ approval, act }: { readonly approval: ShownApproval; readonly act: Act }) {
  const [noted, setNoted] = useState<'deny' | 'ran' | undefined>();
  const { kind, scopes } = approval;
  useDecisionKeys();
  if (noted !== undefined) return <WithNote decision={noted} act={act} cancel={() => setNoted(undefined)} />;
  const rule = (scope: Scope) => (): void => void showDialog((close) => <Rule approval={approval} scope={scope} act={act} close={close} />);
  if (kind === 'unknown')
    return (
      <div class="row wrap">
        <Button label={inboxText.ran} run={() => setNoted('ran')} />
        <Button label={inboxText.notRan} run={() => act('not-ran')} />
        <Button label={inboxText.tell} run={() => act('tell')} />
      </div>
    );
  if (kind === 'input') return <Asked approval={approval} act={act} />;
  return (
    <div class="row wrap">
      {scopes.includes('once') && <Button label={inboxText.once} keys="a" run={() => act('approve')} />}
      <Button label={inboxText.deny} keys="d" run={() => act('deny')} />
      <Button label={inboxText.denyNote} kind="quiet" run={() => setNoted('deny')} />
      {scopes.length > 1 && (
        <Menu
          label={inboxText.more}
          choices={[
            ...(scopes.includes('always') ? [{ label: inboxText.always, run: rule('always') }] : []),
            ...(scopes.includes('same-arguments') ? [{ label: inboxText.same, run: rule('same-arguments') }] : []),
          ]}
        />
      )}
    </div>
  );
}

type Input = NonNullable<More['input']>;

/** What a server asks. The server checks the answer, and says which field is wrong. */
function Asked({ approval: { request = {}, tool }, act }: { readonly approval: ShownApproval; readonly act: Act }) {
  const [said] = useState(() =>
    Object.fromEntries(
      Object.entries(request).map(([name, { fields }]) => [
        name,
        Object.fromEntries(fields.map((field) => [field.name, field.default])) as Record<string, unknown>,
      ]),
    ),
  );
  const input = (): Input => Object.fromEntries(Object.entries(said).map(([name, content]) => [name, { action: 'accept', content }]));
  return (
    <>
      {Object.entries(request).map(([name, { message, fields }]) => (
        <>
          <p>
            <b class="b">{tool.split('/')[0]}:</b> <Visible text={message} />
          </p>
          {fields.map((field) => (
            <Answer
              key={field.name}
              field={field}
              set={(value) => {
                said[name] = { ...said[name], [field.name]: value };
              }}
            />
          ))}
        </>
      ))}
      <div class="row wrap">
        <Button label={inboxText.answer} run={() => act('approve', { input: input() })} />
        <Button label={inboxText.decline} run={() => act('deny')} />
      </div>
    </>
  );
}

interface AnswerProps {
  readonly field: NonNullable<ShownApproval['request']>[string]['fields'][number];
  set(value: unknown): void;
}

/** What is no number is sent as it is, so that the server says what is wrong. */
function Answer({ field: { name, title = name, description, type, options, isRequired, default: begun }, set }: AnswerProps) {
  const isMany = type === 'choices';
  const choices = type === 'boolean' ? ['true', 'false'].map((value) => ({ value, title: value })) : options;
  const read = (value: string): unknown => {
    if (value === '') return undefined;
    if (type === 'boolean') return value === 'true';
    return (type === 'number' || type === 'integer') && !Number.isNaN(+value) ? +value : value;
  };
  return (
    <Field label={`${shownText(title)}${isRequired ? ' *' : ''}`} help={description === undefined ? undefined : shownText(description)}>
      {(props) =>
        choices === undefined ? (
          <input {...props} class="input" defaultValue={String(begun ?? '')} onInput={(event) => set(read(event.currentTarget.value))} />
        ) : (
          <select
            {...props}
            class="input"
            multiple={isMany}
            onInput={({ currentTarget: { value, selectedOptions } }) => set(isMany ? [...selectedOptions].map((one) => one.value) : read(value))}
          >
            {!isMany && <option />}
            {choices.map((one) => (
              <option key={one.value} value={one.value} selected={[begun].flat().map(String).includes(one.value)}>
                {shownText(one.title)}
              </option>
            ))}
          </select>
        )
      }
    </Field>
  );
}

function WithNote({ decision, act, cancel }: { readonly decision: 'deny' | 'ran'; readonly act: Act; readonly cancel: () => void }) {
  const [note, setNote] = useState('');
  const text = note.trim();
  return (
    <>
      <Field label={inboxText.note}>
        {(props) => (
          <textarea {...props} class="input" rows={2} maxLength={4096} value={note} onInput={(event) => setNote(event.currentTarget.value)} autofocus />
        )}
      </Field>
      <div class="row wrap">
        <Button label={decision === 'deny' ? inboxText.deny : inboxText.didRun} run={() => act(decision, text === '' ? {} : { note: text })} />
        <Button label={WORDS.cancel} kind="quiet" run={cancel} />
      </div>
    </>
  );
}

interface RuleProps {
  readonly approval: ShownApproval;
  readonly scope: Scope;
  readonly act: Act;
  readonly close: () => void;
}

/** The rule as it is written, before it is. */
function Rule({ approval: { block, tool, arguments: args, pin, because }, scope, act, close }: RuleProps) {
  const isTool = scope === 'always';
  const rule = { tool, ...(!isTool && { arguments: args }), ...(pin !== undefined && { pin }), ...(because === 'tainted' && { evenTainted: true }) };
  const run = async (): Promise<void> => {
    close();
    await act('approve', { scope });
  };
  return (
    <Dialog
      title={isTool ? inboxText.alwaysTitle : inboxText.sameTitle}
      close={close}
      footer={
        <>
          <Button label={WORDS.cancel} kind="quiet" run={close} />
          <Button label={isTool ? inboxText.always.replace('…', '') : inboxText.same.replace('…', '')} run={run} />
        </>
      }
    >
      <p>{ruleLead(block, isTool)}</p>
      <pre class="mono sm rule">
        <Visible text={`"allow": [${JSON.stringify(rule, null, 2)}]`} />
      </pre>
    </Dialog>
  );
}

/** The card with the focus; of an entry of a chat, its only one. */
function focused(): ShownApproval | undefined {
  const at = document.activeElement;
  const inside = at?.matches('[data-entry]') === true ? at.querySelectorAll<HTMLElement>('[data-approval]') : [];
  const card = at?.closest<HTMLElement>('[data-approval]') ?? (inside.length === 1 ? inside[0] : undefined);
  const found = approvals.peek().get(card?.dataset['approval'] ?? '');
  return found?.state === 'pending' && found.kind === 'call' ? found : undefined;
}

/** no-slip: A allows the call in focus once, D denies it. Several cards have the same two keys. */
function useDecisionKeys(): void {
  const key = (keys: string, does: string, decision: Decision) => ({
    keys,
    does,
    when: (event: KeyboardEvent) => !event.repeat && focused() !== undefined,
    run: () => {
      const approval = focused();
      if (approval !== undefined && (decision !== 'approve' || approval.scopes.includes('once'))) void decide(approval, decision).catch(tellFailure);
    },
  });
  useKeys([key('a', inboxText.once, 'approve'), key('d', inboxText.deny, 'deny')]);
}
