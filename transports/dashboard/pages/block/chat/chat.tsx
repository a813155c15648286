// Chat of a block: what was said, what is being said, and beside it what the block does and sees.
import { type Signal, useComputed } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { announce } from '../../../base/announce.ts';
import { useKeys } from '../../../base/keys.ts';
import { tellFailure } from '../../../base/toast.ts';
import { cancelMessage } from '../../../data/blocks.ts';
import { OpenBlock } from '../../../data/open-block.ts';
import { pathOf } from '../../../data/route.ts';
import { means } from '../../../data/services.ts';
import { readAloud } from '../../../data/settings.ts';
import { Empty } from '../../../parts/widgets.tsx';
import { chatText, completeText, failedText, isWritingText } from '../../../text/block.ts';
import { Composer } from './composer.tsx';
import { Log } from './log.tsx';
import { SidePanel, Strip } from './side-panel.tsx';

/** The tab. It tells the page what it follows. */
export function Chat({ name, followed }: { readonly name: string; readonly followed: Signal<OpenBlock | undefined> }) {
  const open = useMemo(() => new OpenBlock(name, means), [name]);
  const [taken, setTaken] = useState({ text: '' });
  const [isPanelOpen, setPanelOpen] = useState(false);
  const [sent, setSent] = useState(0);
  useEffect(() => {
    const close = open.open();
    followed.value = open;
    return () => {
      close();
      followed.value = undefined;
    };
  }, [open]);
  if (open.isGone.value) {
    return (
      <Empty text={chatText.gone}>
        <a class="btn" href={pathOf('archive')}>
          {chatText.toArchive}
        </a>
      </Empty>
    );
  }
  return (
    <div class="chat-cols">
      <section class="chat" aria-label={chatText.chat}>
        <Log open={open} edit={(text) => setTaken({ text })} sent={sent} />
        <Strip open={open} isOpen={isPanelOpen} toggle={() => setPanelOpen(!isPanelOpen)} />
        <Composer open={open} taken={taken} onSent={() => setSent((count) => count + 1)} />
      </section>
      <SidePanel open={open} isOpen={isPanelOpen} />
      <Stopper open={open} />
      <Teller open={open} />
    </div>
  );
}

/** Escape ends the reply, while there is one. */
function Stopper({ open }: { readonly open: OpenBlock }) {
  const id = useComputed(() => (open.reply.value?.phase === 'writing' ? open.reply.value.id : undefined)).value;
  return id === undefined ? null : <StopKey block={open.name} id={id} />;
}

function StopKey({ block, id }: { readonly block: string; readonly id: string }) {
  useKeys([{ keys: 'Escape', does: chatText.endReply, inFields: true, run: () => void cancelMessage(block, id).catch(tellFailure) }], [block, id]);
  return null;
}

/** Tells a screen reader twice for each reply: that it begins, and how it ended. */
function Teller({ open }: { readonly open: OpenBlock }) {
  const to = useComputed(() => open.reply.value?.id).value;
  const before = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (to !== undefined) announce(isWritingText(open.name));
    else if (before.current !== undefined) announce(outcomeOf(open, before.current));
    before.current = to;
  }, [to]);
  return null;
}

function outcomeOf(open: OpenBlock, to: string): string {
  const entries = [...open.entries.peek().values()];
  const failed = entries.find(({ id }) => id === to)?.error;
  if (failed !== null && failed !== undefined) return failedText(failed.message);
  const answer = entries.findLast(({ replyTo }) => replyTo === to);
  const sentence = completeText(answer?.usage?.outputTokens);
  return readAloud.peek() && answer !== undefined ? `${sentence}. ${answer.content}` : sentence;
}
