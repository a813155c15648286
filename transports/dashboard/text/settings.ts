// Words of the settings, and of the providers in the first steps.
import { plural } from '../base/format.ts';
import type { Provider } from '../data/credentials.ts';

export const settingsText = {
  title: 'Settings',
  providers: 'Providers and keys',
  providersLead: 'A key goes into auth.json of the workspace and to its provider, nowhere else. It is never shown again.',
  setKey: 'Set key…',
  replaceKey: 'Replace key…',
  removeKey: 'Remove key',
  address: 'Address…',
  lookAgain: 'Look again',
  key: 'Key',
  keyHelp: 'Checked with the provider, then stored. It can’t be shown again.',
  store: 'Check and store',
  storeUnchecked: 'Store it unchecked',
  keyAgainHelp: 'The stored key belongs to the stored address. For another one, type the key again.',
  baseURL: 'Address',
  baseURLHelp: 'Where the provider answers, such as http://127.0.0.1:11434.',
  halt: 'Model calls',
  haltLead: 'The kill switch ends all model calls and lets none begin.',
  doctor: 'Workspace',
  doctorLead: 'The doctor reads every file and changes nothing.',
  doctorRun: 'Examine the workspace',
  doctorFine: 'Nothing is wrong.',
  browser: 'This browser',
  theme: 'Theme',
  themeSystem: 'As the system',
  themeLight: 'Light',
  themeDark: 'Dark',
  send: 'Send a message with',
  sendEnter: 'Enter',
  sendMod: 'Ctrl or ⌘ with Enter',
  singleKeys: 'Single letters are commands',
  readAloud: 'A screen reader reads answers when they are complete',
  signOut: 'Sign out',
  signOutEverywhere: 'Sign out everywhere…',
  everywhereTitle: 'Sign out everywhere',
  everywhereText: 'A new token ends every session, in every browser and program. Run this on the machine of the server:',
  about: 'About',
  version: 'Version',
  uptime: 'Running for',
  serverAddress: 'Address',
  licences: 'Licences of what this page is built with',
} as const;

/** What a provider's row says: ready and from where, or what is missing. */
export function providerText({ ready, detail, problem, envVars, credential }: Provider): string {
  if (!ready && problem === 'credential' && envVars.length > 0) return `No key in auth.json or ${envVars[0]}.`;
  if (!ready && problem === 'credential' && detail !== undefined) return `${detail.split(/ \(|:/)[0]}.`; // the whole sentence is the tip
  if (!ready) return detail ?? 'Not ready.';
  const hint = credential?.hint === undefined || credential.hint === null ? '' : ` …${credential.hint}`;
  if (credential?.source === 'env') return `Ready, with the key in ${credential.variable ?? 'the environment'}${hint}.`;
  if (credential?.source === 'auth.json') return `Ready, with the key in auth.json${hint}.`;
  return detail === undefined ? 'Ready.' : `Ready. ${detail}`;
}

/** Where a key goes that is about to be typed, if that is not the provider itself. */
export function keyGoesText(address: string): string {
  return `It is sent to ${address}.`;
}

/** A stored key was checked. */
export function storedText(provider: string): string {
  return `The key of ${provider} is stored.`;
}

export function removedKeyText(provider: string): string {
  return `The key of ${provider} is removed from auth.json.`;
}

/** `3 files, 12 messages examined.` */
export function examinedText(blocks: number, files: number, messages: number): string {
  return `Examined: ${plural(blocks, 'block', 'blocks')}, ${plural(files, 'file', 'files')}, ${plural(messages, 'message', 'messages')}.`;
}
