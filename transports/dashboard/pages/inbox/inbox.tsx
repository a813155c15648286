// The calls of tools that wait for a person, of all blocks: the next deadline first.
//
// nothing-jumps: while a hand or the focus is on the list, what comes is put at its end.
import { useEffect, useRef } from 'preact/hooks';
import type { ShownApproval } from '../../../../core/types.ts';
import { useKeys } from '../../base/keys.ts';
import { approvals, forgetDecided, inboxError, isInboxRead, pending, readApprovals } from '../../data/approvals.ts';
import { pathOf } from '../../data/route.ts';
import { ApprovalCard } from '../../parts/approval.tsx';
import { Button, Empty, Problem } from '../../parts/widgets.tsx';
import { callsWaitText, chatText, inboxText } from '../../text/index.ts';

/** The page. */
export default function Inbox() {
  const box = useRef<HTMLDivElement>(null);
  const list = useOrder(box);
  useEffect(() => forgetDecided, []);
  const move = (by: number) => (): void => {
    const cards = [...(box.current?.querySelectorAll<HTMLElement>('[data-approval]') ?? [])];
    const at = cards.indexOf(document.activeElement?.closest<HTMLElement>('[data-approval]') as HTMLElement);
    const next = cards[Math.max(0, Math.min(cards.length - 1, at + (at === -1 ? 1 : by)))];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: 'nearest' });
  };
  const steps = [
    { keys: 'j', does: inboxText.next, run: move(1) },
    { keys: 'k', does: inboxText.before, run: move(-1) },
  ];
  useKeys(list.length === 0 ? [] : steps, [list.length === 0]);
  return (
    <>
      <header class="top">
        <h1>{inboxText.title}</h1>
        <span class="t2">{pending.value > 0 && callsWaitText(pending.value)}</span>
      </header>
      <div class="page">
        <div class="inbox" ref={box}>
          {inboxError.value !== undefined && (
            <Problem error={inboxError.value}>
              <Button label={chatText.lookAgain} small run={readApprovals} />
            </Problem>
          )}
          {list.map((approval) => (
            <ApprovalCard key={approval.id} approval={approval} isInInbox />
          ))}
          {list.length === 0 && isInboxRead.value && (
            <Empty text={inboxText.none}>
              <a class="btn" href={pathOf('tools')}>
                {inboxText.tools}
              </a>
            </Empty>
          )}
        </div>
      </div>
    </>
  );
}

/** nothing-jumps. */
function useOrder(box: { readonly current: HTMLElement | null }): readonly ShownApproval[] {
  const last = useRef<readonly string[]>([]);
  const known = approvals.value;
  const byDeadline = [...known.values()].sort((one, other) => (one.expiresAt < other.expiresAt ? -1 : 1));
  const isHeld = box.current?.matches(':hover, :focus-within') === true;
  const kept = isHeld ? last.current.flatMap((id) => known.get(id) ?? []) : [];
  const list = [...kept, ...byDeadline.filter((each) => !kept.includes(each))];
  last.current = list.map(({ id }) => id);
  return list;
}
