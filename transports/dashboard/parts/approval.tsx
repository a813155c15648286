// A call that waits for a person: what it would do, why it asks, and the ways to decide.
//
// no-slip: nothing is decided by Enter, by a key that is held down, or without the focus on the card; and a card that is decided stays where it is.
import type { InputHTMLAttributes } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ShownApproval } from '../../../core/types.ts';
import { useKeys } from '../base/keys.ts';
import { tellFailure } from '../base/toast.ts';
import { ApiError } from '../data/api-error.ts';
import { approvals, type Decision, decide, type More, ownDecisions } from '../data/approvals.ts';
import { blockPath } from '../data/route.ts';
import { becauseText, boundsText, decidedText, inboxText, marksText, ruleLead, taintText } from '../text/approvals.ts';
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
  const wrong = failure instanceof ApiError ? failure.details?.find(({ path }) => path.startsWith('input.')) : undefined;
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
      {failure !== undefined && wrong === undefined && <Problem error={failure} />}
      {isPending ? <Choices approval={approval} act={act} wrong={wrong} /> : <Decided approval={approval} />}
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

interface ChoicesProps {
  readonly approval: ShownApproval;
  readonly act: Act;
  /** What the server says of a field of the form. */
  readonly wrong: { readonly path: string; readonly message: string } | undefined;
}

function Choices({ approval, act, wrong }: ChoicesProps) {
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
  if (kind === 'input') return <Asked approval={approval} act={act} wrong={wrong} />;
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

/** What a server asks. The server checks the answer, and says which field is wrong: it gets the focus. */
function Asked({ approval: { request = {}, tool }, act, wrong }: ChoicesProps) {
  const box = useRef<HTMLDivElement>(null);
  const [said] = useState(() =>
    Object.fromEntries(Object.entries(request).map(([name, { fields }]) => [name, Object.fromEntries(fields.map((field) => [field.name, begunOf(field)]))])),
  );
  const input = (): Input => Object.fromEntries(Object.entries(said).map(([name, content]) => [name, { action: 'accept', content }]));
  useLayoutEffect(() => box.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [wrong]);
  return (
    <div class="asked" ref={box}>
      {Object.entries(request).map(([name, { message, fields }]) => (
        <>
          <p>
            <b class="b">{tool.split('/')[0]}:</b> <Visible text={message} />
          </p>
          {fields.map((field) => (
            <Answer
              key={field.name}
              field={field}
              wrong={wrong?.path === `input.${name}.content.${field.name}` ? wrong.message : undefined}
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
    </div>
  );
}

type Asks = NonNullable<ShownApproval['request']>[string]['fields'][number];

/** Of choices that must be answered, none is an answer. */
function begunOf({ type, isRequired, default: begun }: Asks): unknown {
  return begun ?? (type === 'choices' && isRequired ? [] : undefined);
}

interface AnswerProps {
  readonly field: Asks;
  readonly wrong: string | undefined;
  set(value: unknown): void;
}

const INPUT_TYPES: Readonly<Record<string, 'email' | 'url' | 'date'>> = { email: 'email', uri: 'url', date: 'date' };

/** What is no number is sent as it is, so that the server says what is wrong. */
function Answer({ field, wrong, set }: AnswerProps) {
  const { name, title = name, description = '', type, format = '', options, isRequired, min = -1 } = field;
  const label = shownText(title);
  const isNumber = type === 'number' || type === 'integer';
  const choices = type === 'boolean' ? inboxText.yesOrNo : options;
  const read = (value: string): unknown => {
    if (value === '') return undefined;
    if (type === 'boolean') return value === 'true';
    return isNumber && !Number.isNaN(+value) ? +value : value;
  };
  const help = [shownText(description), boundsText(field)].filter((text) => text !== '').join(' · ');
  return (
    <Field label={isRequired ? `${label} ${inboxText.required}` : label} help={help === '' ? undefined : help} wrong={wrong && `${label} ${wrong}.`}>
      {(props) => {
        if (type === 'choices') return <Boxes {...props} label={label} field={field} set={set} />;
        if (choices === undefined)
          return (
            <input
              {...props}
              class="input"
              {...({ type: INPUT_TYPES[format] ?? 'text' } as InputHTMLAttributes<HTMLInputElement>)}
              inputMode={isNumber && min >= 0 ? 'decimal' : undefined}
              autocomplete="off"
              defaultValue={String(begunOf(field) ?? '')}
              onInput={(event) => set(read(event.currentTarget.value))}
            />
          );
        return (
          <select {...props} class="input" onInput={(event) => set(read(event.currentTarget.value))}>
            <option />
            {choices.map(({ value, title }) => (
              <option key={value} value={value} selected={isBegun(field, value)}>
                {shownText(title)}
              </option>
            ))}
          </select>
        );
      }}
    </Field>
  );
}

function isBegun(field: Asks, value: string): boolean {
  return [begunOf(field)].flat().map(String).includes(value);
}

interface BoxesProps extends Pick<AnswerProps, 'field' | 'set'> {
  readonly id: string;
  readonly label: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
}

/** Several choices: a box for each. */
function Boxes({ id, label, field, set, ...props }: BoxesProps) {
  const { options = [], isRequired } = field;
  const box = useRef<HTMLDivElement>(null);
  const read = (): void => {
    const values = [...(box.current?.querySelectorAll<HTMLInputElement>(':checked') ?? [])].map(({ value }) => value);
    set(values.length > 0 || isRequired ? values : undefined);
  };
  return (
    <div id={id} role="group" aria-label={label} ref={box}>
      {options.map(({ value, title }) => (
        <label key={value} class="check">
          <input {...props} type="checkbox" value={value} defaultChecked={isBegun(field, value)} onChange={read} />
          <span class="break">{shownText(title)}</span>
        </label>
      ))}
    </div>
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
