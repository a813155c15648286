// The tools of a run while it goes on: those that it began with, and at the end of the list what the journal has added since (same-list).
import { BLOCK_SERVER, SERVER_TOOLS } from '../../../tools/builtin/definitions.ts';
import type { RunState } from '../../../tools/journal.ts';
import { type Offer, type OfferedTool, offerAgain, offerFor, prepareOffer, prepareRecorded, recordOf } from '../../../tools/offer.ts';
import type { Catalogue, ToolHost } from '../../../tools/port.ts';
import { type ToolSettings, toolSettings } from '../../../tools/settings.ts';
import type { BlockConfig } from '../../../types.ts';
import { RunSkills, type SkillSource } from './run-skills.ts';

/** As many tools are named that must be found. */
const MAX_NAMED = 10;

/** What the list is made from. */
export interface RunToolsOptions {
  readonly host: Pick<ToolHost, 'catalogue'>;
  readonly settings: ToolSettings;
  readonly state: RunState;
  /** The run begins now. */
  readonly isNew: boolean;
  /** Tools whose calls stand in the window. */
  readonly called: ReadonlySet<string>;
  readonly skills: RunSkills;
}

/** Reads the catalogue, which then holds for the attempt. Rejects as `ToolHost.catalogue` does. */
export async function openTools({ host, settings, state, isNew, called: earlier, skills }: RunToolsOptions): Promise<RunTools> {
  const catalogue = await catalogueOf(host, settings);
  const called = new Set([...earlier, ...state.calls.map(({ asked }) => asked.tool)]);
  const options = { called, hasCut: state.hasCut, hasSkills: skills.skills.length > 0 };
  await (isNew ? prepareOffer(catalogue, settings, options) : prepareRecorded(catalogue, [...(state.run?.tools ?? []), ...state.added]));
  return new RunTools({ catalogue, settings, state, offer: isNew ? offerFor(catalogue, settings, options) : undefined, skills });
}

/** Why a new run of the block would not be offered skills, or tools of its servers, as sentences without their end. Rejects as `ToolHost.catalogue` does. */
export async function missingTools(
  host: Pick<ToolHost, 'catalogue'>,
  config: Pick<BlockConfig, 'tools' | 'skills'>,
  source: SkillSource,
): Promise<readonly string[]> {
  const settings = toolSettings(config);
  if (settings === undefined) return [];
  const { problems: skills } = await RunSkills.open(source, config);
  const catalogue = await catalogueOf(host, settings);
  await prepareOffer(catalogue, settings);
  const { problems, toFind = [] } = offerFor({ ...catalogue, problems: [] }, settings);
  const told = catalogue.problems.map(({ server, problem }) => (problem.includes(` of ${server} `) ? problem : `${server}: ${problem}`));
  const names = toFind.length > MAX_NAMED ? `${toFind.slice(0, MAX_NAMED).join(', ')} and others` : toFind.join(', ');
  return [...told, ...problems, ...(toFind.length > 0 ? [`To be found: ${names}`] : []), ...skills];
}

/** With the built-in tools of a block that has the server `block`. */
export async function catalogueOf(host: Pick<ToolHost, 'catalogue'>, { servers, send }: ToolSettings): Promise<Catalogue> {
  const others = servers.filter((server) => server !== BLOCK_SERVER);
  const given: Catalogue = others.length === 0 ? { tools: [], settings: {}, problems: [] } : await host.catalogue(others);
  const own = others.length === servers.length ? [] : SERVER_TOOLS.filter(({ tool }) => tool !== 'send' || send.to.length > 0);
  return { ...given, tools: [...given.tools.filter(({ server }) => server !== BLOCK_SERVER), ...own] };
}

interface Parts {
  readonly catalogue: Catalogue;
  readonly settings: ToolSettings;
  readonly state: RunState;
  /** Of a run that begins now. */
  readonly offer: Offer | undefined;
  readonly skills: RunSkills;
}

/** The list of one run. */
export class RunTools {
  readonly catalogue: Catalogue;
  readonly skills: RunSkills;
  /** Why tools or skills are missing, as it was when the list was made. */
  readonly problems: readonly string[];
  readonly #parts: Parts;
  readonly #begun: readonly string[];
  #offer: Offer;
  #count: number;

  constructor(parts: Parts) {
    const { catalogue, settings, state, offer, skills } = parts;
    this.catalogue = catalogue;
    this.skills = skills;
    this.#parts = parts;
    this.#begun = offer === undefined ? (state.run?.tools ?? []) : offer.tools.map(({ definition }) => recordOf(definition));
    this.#count = state.added.length;
    this.#offer = offer ?? offerAgain(catalogue, this.#begun, { settings, added: state.added });
    this.problems = [...this.#offer.problems, ...skills.problems];
  }

  /** As the model is offered them next. */
  get offered(): readonly OfferedTool[] {
    const { catalogue, settings, state } = this.#parts;
    if (state.added.length !== this.#count) {
      this.#count = state.added.length;
      this.#offer = offerAgain(catalogue, this.#begun, { settings, added: state.added });
    }
    return this.#offer.tools;
  }
}
