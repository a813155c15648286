// Blocks that were put away: restore them, delete them for good, and import the file of an exported one.
import { useState } from 'preact/hooks';
import type { ArchiveInfo, ArchiveList } from '../../../../core/types.ts';
import { navigate } from '../../base/address.ts';
import { bytes, count, NONE, usd } from '../../base/format.ts';
import { useReveal } from '../../base/reveal.ts';
import { tell } from '../../base/toast.ts';
import { deleteArchive, restoreBlock } from '../../data/blocks.ts';
import { call, get } from '../../data/http.ts';
import { useLoad } from '../../data/load.ts';
import { blockPath, route } from '../../data/route.ts';
import { FormDialog, showDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Table } from '../../parts/table.tsx';
import { Ago, Button, Empty, Problem } from '../../parts/widgets.tsx';
import { archiveText, importedText, LABELS, moreAbout, removedText, removeText, removeTitle, restoredText } from '../../text/index.ts';

/** The page. */
export default function Archive() {
  const { state, reload } = useLoad(() => get<ArchiveList>('/api/archive'), []);
  const [isOver, setOver] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const { data, error } = state.value;
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    setFailure(undefined);
    try {
      const { data: answer } = await call<{ readonly name: string }>('POST', '/api/import', { raw: file, headers: { 'content-type': 'application/gzip' } });
      tell(importedText(answer.name), { label: LABELS.open, run: () => navigate(blockPath(answer.name)) });
    } catch (fault) {
      setFailure(fault);
    }
  };
  return (
    <>
      <header class="top">
        <h1>{archiveText.title}</h1>
        <span class="grow" />
        <label class="btn">
          {archiveText.import}
          <input
            class="sr"
            type="file"
            accept=".gz,.tgz,application/gzip"
            onChange={(event) => {
              void take(event.currentTarget.files?.[0]);
              event.currentTarget.value = '';
            }}
          />
        </label>
      </header>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button above does the same */}
      <div
        class={`page${isOver ? ' over' : ''}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void take(event.dataTransfer?.files[0]);
        }}
      >
        {[error, failure].map((each) => each !== undefined && <Problem key={String(each)} error={each} />)}
        {isOver && <p class="strip">{archiveText.drop}</p>}
        {data !== undefined && <Rows list={data.archives} reload={reload} />}
      </div>
    </>
  );
}

function Rows({ list, reload }: { readonly list: readonly ArchiveInfo[]; reload(): Promise<void> }) {
  const linked = route.value.query.get('at') ?? undefined;
  useReveal(linked && `archive-${linked}`, true);
  if (list.length === 0) return <Empty text={archiveText.none} />;
  return (
    <Table
      shape="archive"
      heads={[
        archiveText.name,
        archiveText.when,
        [archiveText.size, 'end wide'],
        [archiveText.calls, 'end wide'],
        [archiveText.cost, 'end wide'],
        [<span class="sr">{LABELS.actions}</span>],
      ]}
      isBare
    >
      {list.map((info) => (
        <tr key={info.archiveName} id={`archive-${info.archiveName}`} class={info.archiveName === linked ? 'linked' : ''} tabIndex={-1}>
          <td>
            <b class="b">{info.originalName}</b> <span class="t2 wide">{info.description}</span>
          </td>
          <td class="t2 num">
            <Ago at={info.archivedAt} />
          </td>
          <td class="end num wide">{info.sizeBytes === undefined ? NONE : bytes(info.sizeBytes)}</td>
          <td class="end num wide">{info.totals?.calls === undefined ? NONE : count(info.totals.calls)}</td>
          <td class="end num wide">{usd(info.totals?.calls === 0 ? 0 : info.totals?.totalCost)}</td>
          <td class="end">
            <span class="row">
              <span class="grow" />
              <Button label={archiveText.restore} small run={() => restore(info, undefined, reload)} />
              <Menu
                label={moreAbout(info.originalName)}
                small
                choices={[
                  { label: archiveText.restoreAs, icon: 'edit', run: () => showDialog((close) => <RestoreAs info={info} close={close} reload={reload} />) },
                  {
                    label: archiveText.remove,
                    icon: 'trash',
                    danger: true,
                    run: () => showDialog((close) => <Remove info={info} close={close} reload={reload} />),
                  },
                ]}
              />
            </span>
          </td>
        </tr>
      ))}
    </Table>
  );
}

async function restore(info: ArchiveInfo, name: string | undefined, reload: () => Promise<void>): Promise<void> {
  const given = await restoreBlock(info.archiveName, name === undefined ? {} : { name });
  tell(restoredText(given), { label: LABELS.open, run: () => navigate(blockPath(given)) });
  await reload();
}

interface AboutProps {
  readonly info: ArchiveInfo;
  readonly close: () => void;
  reload(): Promise<void>;
}

function RestoreAs({ info, close, reload }: AboutProps) {
  const [name, setName] = useState(info.originalName);
  const act = async (): Promise<void> => {
    await restore(info, name, reload);
    close();
  };
  return (
    <FormDialog title={`${archiveText.restore} ${info.originalName}`} does={`${archiveText.restore} as ${name}`} close={close} act={act}>
      <TextField label={archiveText.newName} value={name} set={setName} />
    </FormDialog>
  );
}

function Remove({ info, close, reload }: AboutProps) {
  const { originalName: name } = info;
  const [typed, setTyped] = useState('');
  const act = async (): Promise<void> => {
    if (typed !== name) return;
    await deleteArchive(info.archiveName);
    tell(removedText(name));
    close();
    await reload();
  };
  return (
    <FormDialog title={removeTitle(name)} text={removeText(name)} does={`Delete ${name}`} kind="danger" disabled={typed !== name} close={close} act={act}>
      <TextField label={archiveText.typeName} value={typed} set={setTyped} />
    </FormDialog>
  );
}
