// Settings of the server, and of this browser.
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { DoctorReport } from '../../../../core/types.ts';
import { askHalt } from '../../actions/halt-dialog.tsx';
import { duration } from '../../base/format.ts';
import { singleKeys } from '../../base/keys.ts';
import { useReveal } from '../../base/reveal.ts';
import { namedOnly, readConnections } from '../../data/connections.ts';
import { readProviders } from '../../data/credentials.ts';
import { halt, setHalt } from '../../data/halt.ts';
import { get } from '../../data/http.ts';
import { useLoad } from '../../data/load.ts';
import { route } from '../../data/route.ts';
import { askedAt, hasBlocks, serverHealth } from '../../data/server.ts';
import { session } from '../../data/services.ts';
import { readAloud, sendWith, theme } from '../../data/settings.ts';
import { Dialog, showDialog } from '../../parts/dialog.tsx';
import { Segments } from '../../parts/fields.tsx';
import { Mark } from '../../parts/mark.tsx';
import { Providers } from '../../parts/providers.tsx';
import { Ago, Button, Copy, Problem } from '../../parts/widgets.tsx';
import { connectionsText, examinedText, LABELS, notifyText, settingsText, WORDS } from '../../text/index.ts';
import { Connections } from './connections.tsx';
import { KeysWithAnother } from './keys.tsx';
import { Notifications } from './notifications.tsx';
import { Targets } from './targets.tsx';

const NEW_TOKEN = 'blockhouse token --new-token';

/** What the server has, and the part of the page that the address names. */
function useSettings() {
  const providers = useLoad(readProviders, []);
  const connections = useLoad(readConnections, []);
  const { data, error } = providers.state.value;
  const { data: all } = connections.state.value;
  const part = route.value.query.get('part') ?? undefined;
  useReveal(part && `part-${part}`, data !== undefined && all !== undefined);
  const reload = async (): Promise<void> => void (await Promise.all([providers.reload(), connections.reload()]));
  return { connections, data, error, all, reload };
}

/** The page. */
export default function Settings() {
  const { connections, data, error, all, reload } = useSettings();
  return (
    <>
      <header class="top">
        <h1>{settingsText.title}</h1>
      </header>
      <div class="page">
        <div class="settings">
          <Section id="providers" title={settingsText.providers} lead={settingsText.providersLead}>
            {error !== undefined && <Problem error={error} />}
            {data !== undefined && (
              <Providers
                list={data}
                reload={reload}
                open={route.value.query.get('key') ?? undefined}
                connections={all}
                keysOf={(connection) => <KeysWithAnother connection={connection} reload={reload} />}
              />
            )}
          </Section>
          <Section id="connections" title={connectionsText.title} lead={connectionsText.lead}>
            {connections.state.value.error !== undefined && <Problem error={connections.state.value.error} />}
            {data !== undefined && all !== undefined && (
              <Connections
                list={namedOnly(all, data)}
                taken={new Set(all.map(({ name }) => name))}
                open={route.value.query.get('key') ?? undefined}
                reload={reload}
              />
            )}
          </Section>
          <OfServer />
        </div>
      </div>
    </>
  );
}

/** What is no provider and no connection. */
function OfServer() {
  return (
    <>
      {hasBlocks && (
        <Section id="halt" title={settingsText.halt} lead={settingsText.haltLead}>
          <Halt />
        </Section>
      )}
      <Section id="doctor" title={settingsText.doctor} lead={settingsText.doctorLead}>
        <Doctor />
      </Section>
      {hasBlocks && (
        <Section id="notifications" title={notifyText.title} lead={notifyText.lead}>
          <Notifications />
          <Targets />
        </Section>
      )}
      <Section id="browser" title={settingsText.browser}>
        <Browser />
      </Section>
      <Section id="about" title={settingsText.about}>
        <About />
      </Section>
    </>
  );
}

interface SectionProps {
  /** What `?part=` in an address names. */
  readonly id: string;
  readonly title: string;
  readonly lead?: string;
  readonly children: ComponentChildren;
}

function Section({ id, title, lead, children }: SectionProps) {
  return (
    <section id={`part-${id}`} tabIndex={-1}>
      <h2>{title}</h2>
      {lead !== undefined && <p class="t2">{lead}</p>}
      {children}
    </section>
  );
}

function Halt() {
  const state = halt.value;
  if (state?.halted !== true)
    return (
      <div>
        <Button label={WORDS.halt} icon="block" run={askHalt} />
      </div>
    );
  return (
    <div class="row wrap">
      <span class="bad b">{LABELS.halted}</span> <Ago at={state.since} /> <span class="t2">{state.reason}</span>
      <Button label={WORDS.release} icon="play" run={() => setHalt(undefined)} />
    </div>
  );
}

function Doctor() {
  const report = useSignal<DoctorReport | undefined>(undefined);
  const { value } = report;
  return (
    <>
      <div>
        <Button
          label={settingsText.doctorRun}
          run={async () => {
            report.value = await get<DoctorReport>('/api/doctor');
          }}
        />
      </div>
      {value !== undefined && (
        <div class="stack" role="status">
          <p class="t2">
            {examinedText(value.checked.blocks, value.checked.files, value.checked.messages)}{' '}
            {value.findings.length === 0 && <b class="ok">{settingsText.doctorFine}</b>}
          </p>
          <ul class="findings">
            {value.findings.map(({ severity, place, problem, fix }) => (
              <li key={`${place} ${problem}`}>
                <Mark state={severity === 'error' ? 'failed' : 'backoff'} named={false} />
                <span class="break">
                  <span class="num">{place}</span> {problem} <span class="t2">{fix}</span>
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

function Browser() {
  return (
    <div class="choices">
      <Choice
        label={settingsText.theme}
        value={theme}
        options={[
          ['system', settingsText.themeSystem],
          ['light', settingsText.themeLight],
          ['dark', settingsText.themeDark],
        ]}
      />
      <Choice
        label={settingsText.send}
        value={sendWith}
        options={[
          ['enter', settingsText.sendEnter],
          ['mod', settingsText.sendMod],
        ]}
      />
      <Check label={settingsText.singleKeys} value={singleKeys} />
      <Check label={settingsText.readAloud} value={readAloud} />
      <div class="row wrap">
        <Button label={settingsText.signOut} run={() => session.signOut()} />
        <Button label={settingsText.signOutEverywhere} run={() => void showDialog((close) => <Everywhere close={close} />)} />
      </div>
    </div>
  );
}

function Everywhere({ close }: { readonly close: () => void }) {
  return (
    <Dialog title={settingsText.everywhereTitle} close={close}>
      <p>{settingsText.everywhereText}</p>
      <div class="cmd mono">
        {NEW_TOKEN} <Copy text={NEW_TOKEN} iconOnly />
      </div>
    </Dialog>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: Signal<T>;
  readonly options: readonly (readonly [T, string])[];
}

function Choice<T extends string>({ label, value, options }: ChoiceProps<T>) {
  return (
    <div class="row wrap" role="group" aria-label={label}>
      <span class="choice-label">{label}</span>
      <Segments
        options={options}
        value={value.value}
        choose={(id) => {
          value.value = id;
        }}
      />
    </div>
  );
}

function Check({ label, value }: { readonly label: string; readonly value: Signal<boolean> }) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={value.value}
        onChange={(event) => {
          value.value = event.currentTarget.checked;
        }}
      />
      {label}
    </label>
  );
}

function About() {
  const { state } = useLoad(serverHealth, []);
  const { data } = state.value;
  return (
    <>
      <dl class="kv about-server">
        <dt>{settingsText.version}</dt>
        <dd class="num">{data?.version}</dd>
        <dt>{settingsText.serverAddress}</dt>
        <dd class="num">{location.host}</dd>
        <dt>{settingsText.uptime}</dt>
        <dd class="num">{data === undefined ? '' : duration(data.uptimeSeconds * 1000 + Date.now() - askedAt)}</dd>
      </dl>
      <p>
        <a class="link" href="/ui/licences.txt" target="_blank" rel="noreferrer" download="licences.txt">
          {settingsText.licences}
        </a>
      </p>
    </>
  );
}
