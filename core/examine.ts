// What the doctor examines: the files of the workspace, connections, the caps of keys, the servers of tools, and skills.
import type { Accounts } from './keys/named-key.ts';
import type { CoreOptions } from './core-options.ts';
import type { Gateway } from './gateway/gateway.ts';
import { keyFindings, type UncountedOptions } from './keys/uncounted-models.ts';
import type { SettingStore } from './store/port.ts';
import type { Blocks } from './block/api.ts';
import type { Environment } from './auth/settings.ts';
import type { DoctorReport, Finding } from './types.ts';
import { todaysSpending } from './workspace-session.ts';

/** The parts of a core that are asked. */
export interface Examined {
  readonly settings: SettingStore | undefined;
  readonly gateway: Gateway;
  readonly uncounted: UncountedOptions;
  /** That of the process. */
  readonly env: Environment;
  /** Undefined without a workspace. */
  session(): { readonly isOpen: boolean; readonly blocks: Pick<Blocks, 'check' | 'list' | 'explain'>; readonly accounts: Accounts | undefined } | undefined;
}

/** Changes nothing. Rejects with an Error without a workspace. */
export async function examineCore(
  { workspace, gatewayOnly, clock, tools, store }: CoreOptions,
  { settings, gateway, uncounted, env, session }: Examined,
): Promise<DoctorReport> {
  if (workspace === undefined || settings === undefined) throw new Error('This check needs a workspace: createCore({ workspace, … }).');
  const open = session();
  const { findings, ...rest } = await (open?.isOpen === true && gatewayOnly !== true
    ? open.blocks.check()
    : (await import('./block/doctor-offline.ts')).examineOffline(workspace, gateway));
  const spentToday = await todaysSpending(workspace, open?.accounts, clock);
  const ofKeys = await keyFindings(settings, { ...uncounted, spentToday });
  const ofTools = (await tools?.servers?.findings()) ?? [];
  const ofSkills = (await tools?.skills?.findings({ blocks: store === undefined })) ?? [];
  const ofConnections = gateway.connectionStore.findings();
  const ofDisk = open?.isOpen === true && gatewayOnly !== true ? await diskFindings(open.blocks) : [];
  const more = [...ofDisk, ...uncheckedCertificates(env), ...ofConnections, ...ofKeys, ...ofTools, ...ofSkills];
  return { ...rest, ok: rest.ok && more.every(({ severity }) => severity !== 'error'), findings: [...findings, ...more] };
}

/** Node itself obeys this variable, in all connections of the process. */
function uncheckedCertificates(env: Environment): Finding[] {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return [];
  const problem = 'NODE_TLS_REJECT_UNAUTHORIZED=0: certificates are not checked, so keys and prompts go to any machine that takes the place of a provider';
  const fix = "Start Blockhouse without it. For a certificate of your own, name its authority's file in NODE_EXTRA_CA_CERTS.";
  return [{ severity: 'error', place: 'environment', problem, fix }];
}

/** Of a server that runs: what its blocks wait for. */
async function diskFindings(blocks: Pick<Blocks, 'list' | 'explain'>): Promise<Finding[]> {
  const { heldBlocks } = await import('./deep-health.ts');
  const fix = 'Free some space on the disk that has the workspace.';
  return (await heldBlocks(blocks)).map((name) => ({
    severity: 'error',
    place: `blocks/${name}`,
    problem: 'it waits until the disk takes what it writes',
    fix,
  }));
}
