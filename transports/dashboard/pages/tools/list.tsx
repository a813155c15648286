// The tools of a server: what each is, what it costs the model to know of it, and what is trusted of it.
import { useState } from 'preact/hooks';
import type { ToolServerView, ToolView } from '../../../../core/types.ts';
import { compareLines } from '../../base/lines.ts';
import { count } from '../../base/format.ts';
import { isSaid, MARKS, type MarkName, openDefinitions, withMark } from '../../data/tools.ts';
import { Folded, Visible } from '../../parts/hidden.tsx';
import { Icon } from '../../parts/icon.tsx';
import { MARK_NAMES, toolStateText, toolsText } from '../../text/index.ts';

interface ListProps {
  readonly server: ToolServerView;
  /** Of those that can be approved, the ones that are left out. */
  readonly left: ReadonlySet<string>;
  setLeft(left: ReadonlySet<string>): void;
  /** Stores other settings of the server. */
  put(settings: object): Promise<void>;
}

export function ToolList({ server, left, setLeft, put }: ListProps) {
  const choose = (name: string, isChosen: boolean): void => {
    const next = new Set(left);
    if (isChosen) next.delete(name);
    else next.add(name);
    setLeft(next);
  };
  const open = openDefinitions(server.tools);
  return (
    <ul class="tool-list">
      {server.tools.map((tool) => (
        <Tool
          key={tool.name}
          server={server}
          tool={tool}
          isOpen={open.has(tool.name)}
          isChosen={!left.has(tool.name)}
          choose={(isChosen) => choose(tool.name, isChosen)}
          put={put}
        />
      ))}
    </ul>
  );
}

interface ToolProps {
  readonly server: ToolServerView;
  readonly tool: ToolView;
  /** Its definition is, at first. */
  readonly isOpen: boolean;
  readonly isChosen: boolean;
  choose(isChosen: boolean): void;
  put(settings: object): Promise<void>;
}

function Tool({ server, tool, isOpen, isChosen, choose, put }: ToolProps) {
  const { name, state, tokens, description, problem } = tool;
  const waits = state === 'new' || state === 'changed';
  const isMarkable = server.state !== 'failed';
  return (
    <li>
      <div class="row wrap">
        {waits ? (
          <label class="check">
            <input type="checkbox" checked={isChosen} onChange={(event) => choose(event.currentTarget.checked)} />
            <b class="b mono break">
              <Visible text={name} />
            </b>
          </label>
        ) : (
          <b class="b mono break">
            <Visible text={name} />
          </b>
        )}
        <span class={`chip ${state === 'approved' ? '' : 'warn'}`}>{toolStateText(state)}</span>
        <span class="num t3 sm">
          {count(tokens)} {toolsText.tokens.toLowerCase()}
        </span>
      </div>
      {problem !== undefined && <p class="sm warn break">{problem}</p>}
      {description !== '' && (
        <p class="sm t2 typed break">
          <Folded text={description} />
        </p>
      )}
      <div class="row wrap sm">
        {MARKS.map((mark) => (
          <MarkBox key={mark} tool={tool} mark={mark} disabled={!isMarkable} put={(isSet) => put(withMark(server, name, mark, isSet))} />
        ))}
      </div>
      <Definition tool={tool} isOpenAtFirst={isOpen} />
    </li>
  );
}

interface MarkBoxProps {
  readonly tool: ToolView;
  readonly mark: MarkName;
  readonly disabled: boolean;
  put(isSet: boolean): Promise<void>;
}

/** Yours is one half of a mark; without the half of the server it can't be ticked. */
function MarkBox({ tool, mark, disabled, put }: MarkBoxProps) {
  const said = isSaid(tool, mark);
  return (
    <label class={`check ${said ? '' : 't3'}`} title={said ? undefined : toolsText.notSaid}>
      <input type="checkbox" checked={tool.marks[mark]} disabled={disabled || !said} onChange={(event) => void put(event.currentTarget.checked)} />
      {MARK_NAMES[mark]}
    </label>
  );
}

/** What is approved by its hash, to be read before: a model reads all of it. Of a changed tool, both texts side by side. */
function Definition({ tool: { hash, now, was }, isOpenAtFirst }: { readonly tool: ToolView; readonly isOpenAtFirst: boolean }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  if (now === undefined) return null;
  return (
    <>
      <button type="button" class="fold sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? 'chevron' : 'next'} small />
        {toolsText.definition} <span class="mono t3">{hash.slice(0, 16)}</span>
      </button>
      {isOpen && <Sides was={was && JSON.stringify(was, null, 2)} now={JSON.stringify(now, null, 2)} />}
    </>
  );
}

/** A text; with what was approved, both side by side. */
export function Sides({ was, now }: { readonly was: string | undefined; readonly now: string }) {
  const lines = compareLines(was ?? '', now);
  const side = (kind: 'added' | 'removed', title: string | undefined) => (
    <div>
      {title !== undefined && <h3 class="sm">{title}</h3>}
      <pre class="mono sm">
        {lines
          .filter((line) => line.kind === 'same' || line.kind === kind)
          .map((line, index) => (
            <div key={index} class={was !== undefined && line.kind === kind ? kind : ''}>
              <Visible text={line.text} />
            </div>
          ))}
      </pre>
    </div>
  );
  return (
    <div class="sides">
      {was !== undefined && side('removed', toolsText.approvedWas)}
      {side('added', was === undefined ? undefined : toolsText.nowIs)}
    </div>
  );
}
