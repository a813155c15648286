// Words of connections: named upstreams beside the five providers, and their keys.
import { clock, count, NONE, percent, plural } from '../base/format.ts';
import { ownOf } from '../base/own.ts';
import type { Connection, ConnectionKey, Preset } from '../data/connections.ts';

export const connectionsText = {
  title: 'Connections',
  lead: 'Other services, further accounts and servers of your own, under names that you choose. Their models are called name/model.',
  none: 'There is no connection yet.',
  add: 'Add a connection…',
  detect: 'Look for local servers',
  detected: 'No local server answers on the usual ports.',
  addFound: 'Add',
  check: 'Check',
  change: 'Change…',
  service: 'Service',
  ownServer: 'A server of your own',
  keyIsSet: 'Their key is set on this server',
  services: 'Services',
  localServers: 'Servers on this machine',
  name: 'Name',
  nameHelp: 'Models are called by it: name/model.',
  nameForm: 'Use a–z, 0–9 and -, beginning with a letter: at most 32.',
  nameTaken: 'There is a connection or provider of this name.',
  protocol: 'Protocol',
  address: 'Address',
  addressMissing: 'An address is needed.',
  ownAddressHelp: 'Where the protocol begins, such as http://10.0.0.7:8000/v1.',
  key: 'Key',
  keyNone: 'Leave it empty if your server asks for none.',
  keyReplaced: 'Leave it empty to keep what is stored. For another address, type the key again.',
  keysReplaced: 'The key that you type takes the place of all its keys. For another address, it is needed.',
  addressAndKey: 'Address and key…',
  remove: 'Remove…',
  keysOf: 'Keys…',
  addKey: 'Add a key…',
  label: 'Label',
  labelHelp: 'What lists and costs call it: 1 to 16 of a–z, 0–9 and -.',
  weight: 'Weight',
  weightHelp: 'How many conversations it takes, compared with the others; 1 if empty.',
  maxInFlight: 'Most calls at a time',
  maxInFlightHelp: 'No limit if empty.',
  from: 'From',
  state: 'State',
  atWork: 'At work',
  calls: 'Calls',
  cached: 'From cache',
  cachedMore: 'Which part of the input tokens came from the provider’s cache since the server started',
  up: 'Earlier',
  down: 'Later',
  changeKey: 'Change…',
  removeKey: 'Remove',
  saveKey: 'Save',
  keyMenu: 'Commands for this key',
} as const;

/** `api.groq.com/openai/v1`. */
export function placeText(baseURL: string): string {
  return baseURL.replace(/^https?:\/\//, '').replace(/\/$/, '');
}

/** What a connection's row says: ready and where, or what is missing. */
export function connectionText({ ready, detail, baseURL, keys }: Connection): string {
  if (!ready) return detail ?? 'Not ready.';
  const at = baseURL === null ? '' : ` at ${placeText(baseURL)}`;
  return `Ready${at}${keysText(keys)}.`;
}

function keysText(keys: Connection['keys']): string {
  const [only, ...others] = keys;
  if (only === undefined) return ', without a key';
  if (others.length === 0) return `, with the key in ${only.source}`;
  const resting = keys.filter(({ state }) => state !== 'ready').length;
  return `, with ${keys.length} keys${resting === 0 ? '' : `, ${resting} of them not used now`}`;
}

/** Whether a key is used, and if not, until when. A state that this page does not know keeps its own name. */
export function keyStateText({ state, until, source }: ConnectionKey): string {
  const at = until === null ? '' : clock(until);
  const again = at === '' ? '' : `, tried again at ${at}`;
  const texts: Readonly<Record<string, string>> = {
    ready: 'Ready',
    cooling: at === '' ? 'Pauses' : `Pauses until ${at}`,
    refused: `Refused${again}`,
    empty: `No quota left${again}`,
    unset: `${source} is not set`,
    elsewhere: 'Not sent to this address',
  };
  return ownOf(texts, state) ?? state;
}

/** Which models a key is not used for, where it is used for others. */
export function keyModelsText({ models }: ConnectionKey): string {
  const [model, ...others] = models;
  if (model === undefined) return '';
  return `for ${model}${others.length === 0 ? '' : ` and ${plural(others.length, 'other model', 'other models')}`}`;
}

/** `2 of 4`; `2` without a limit. */
export function atWorkText({ inFlight, maxInFlight }: ConnectionKey): string {
  return maxInFlight === null ? count(inFlight) : `${count(inFlight)} of ${count(maxInFlight)}`;
}

/** `75 %`; unknown before the first call. */
export function shareText(share: number | null): string {
  return share === null ? NONE : percent(share * 100);
}

/** What is known of the key of a service before one is typed. */
export function presetKeyText({ variable, isSet, isLocal }: Preset): string {
  if (variable !== null && isSet) return `Leave it empty to use ${variable}, which this server has.`;
  if (isLocal) return connectionsText.keyNone;
  return variable === null ? 'Needed.' : `Needed, because ${variable} is not set on this server.`;
}

/** Where a service is, or what its address looks like. */
export function presetAddressText({ baseURL, baseURLForm }: Preset): string {
  return baseURL === null ? `Of the form ${baseURLForm ?? 'that your account shows'}.` : `${baseURL}, unless you type another one.`;
}

export function storedConnectionText(name: string): string {
  return `${name} is stored.`;
}

/** The answer to a check. */
export function checkedText(name: string, detail: string): string {
  return `${name}: ${detail}`;
}

export const removeConnectionText = (name: string) => ({
  title: `Remove ${name}?`,
  text: 'Its address, keys and prices leave auth.json. Blocks, aliases and keys that name it get an error until you add it again.',
  does: `Remove ${name}`,
});

export const removeKeyText = (name: string, label: string) => ({
  title: `Remove the key ${label} of ${name}?`,
  text: 'It can’t be shown or brought back. Conversations that use it go on with another key.',
  does: `Remove ${label}`,
});

/** `vLLM answers at 127.0.0.1:8000/v1`. */
export function foundText(preset: string, baseURL: string, connection: string | null): string {
  const known = connection === null ? '' : `, as ${connection}`;
  return `${preset} answers at ${placeText(baseURL)}${known}.`;
}
