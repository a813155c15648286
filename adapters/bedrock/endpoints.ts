// Bedrock's addresses: two hosts for each region, or the ones that the operator configured. Pure: no I/O.
import { type ResolvedSettings, schemas } from '../../core/index.ts';
import { joinURL } from '../shared/base-url.ts';

/**
 * The region when no setting names one. The region in an AWS profile is ignored: the URL is built before any file is read, and
 * a profile's keys are valid in every region.
 */
const DEFAULT_REGION = 'us-east-1';
/** A region becomes part of a host name, so stored regions must match the pattern of the request schema too. */
const REGION = new RegExp(schemas.REGION_PATTERN);

/** The configured region, or us-east-1. */
export function regionOf({ values }: ResolvedSettings): string {
  return values['region'] ?? DEFAULT_REGION;
}

/** The URL of an inference call. */
export function runtimeURL(settings: ResolvedSettings, path: string): URL {
  return joinURL(runtimeBase(settings), path);
}

/** The URL of a call that asks about models. */
export function controlURL(settings: ResolvedSettings, path: string): URL {
  return joinURL(controlBase(settings), path);
}

/** AWS's own hosts for the region. Empty for an unusable region; `endpointProblem` names it. */
export function trustedOrigins(settings: ResolvedSettings): readonly string[] {
  const region = regionOf(settings);
  return REGION.test(region) ? [awsBase('bedrock-runtime', region), awsBase('bedrock', region)] : [];
}

/** A sentence about the setting that no URL can be built from; undefined if all are usable. */
export function endpointProblem(settings: ResolvedSettings): string | undefined {
  const { values, sources } = settings;
  if (!REGION.test(regionOf(settings))) return `region from ${sources['region']} is not an AWS region. Use one such as us-east-1.`;
  const bad = ['endpoint', 'controlEndpoint'].find((name) => values[name] !== undefined && !isWebURL(values[name]));
  return bad === undefined ? undefined : `${bad} from ${sources[bad]} must be an absolute http or https URL without a user name, query or fragment.`;
}

/** AWS's own hosts, which VPC endpoints have as well. */
const AWS_HOST = /(?:^|\.)(?:amazonaws\.com|amazonaws\.com\.cn|amazonaws\.eu|api\.aws)$/;

/** False if calls go to another server than AWS's. */
export function isOwnEndpoint({ values }: ResolvedSettings): boolean {
  const { endpoint } = values;
  return endpoint === undefined || (URL.canParse(endpoint) && AWS_HOST.test(new URL(endpoint).hostname));
}

function runtimeBase(settings: ResolvedSettings): string {
  return settings.values['endpoint'] ?? awsBase('bedrock-runtime', regionOf(settings));
}

function controlBase(settings: ResolvedSettings): string {
  return settings.values['controlEndpoint'] ?? awsBase('bedrock', regionOf(settings));
}

function awsBase(service: string, region: string): string {
  return `https://${service}.${region}.${domainOf(region)}`;
}

function domainOf(region: string): string {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn';
  return region.startsWith('eusc-') ? 'amazonaws.eu' : 'amazonaws.com';
}

function isWebURL(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && username + password + search + hash === '';
}

const PROFILE_PREFIXES: readonly [RegExp, string][] = [
  [/^us-gov-/, 'us-gov.'],
  [/^us-/, 'us.'],
  [/^eu-/, 'eu.'],
  [/^ap-northeast-[13]$/, 'jp.'],
  [/^ap-southeast-[24]$/, 'au.'],
  [/^ap-/, 'apac.'],
];

/** The prefix of a model id in an inference profile for callers in `region`; undefined if the region has only global profiles. */
export function profilePrefix(region: string): string | undefined {
  return PROFILE_PREFIXES.find(([pattern]) => pattern.test(region))?.[1];
}
