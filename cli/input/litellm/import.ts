// Translates a configuration of LiteLLM into entries of auth.json and aliases of models.json. Pure: no I/O.
//
// Its reference: docs.litellm.ai, "proxy config.yaml" and "load balancing", read in November 2026. Only facts of that format are used.
import { isObject } from '../../../core/base/json.ts';
import { type ImportedNames, makeNames } from './aliases.ts';
import { type ImportWorld, readDeployments } from './deployments.ts';
import { makeEntries } from './entries.ts';
import { type ImportReport, ReportBook } from './report.ts';

/** What is written, and what became of each setting. */
export interface Imported extends ImportedNames {
  readonly entries: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Finishes the report, once it is known what is written. */
  report(): ImportReport;
  readonly book: ReportBook;
}

/** Throws an Error for what is no such configuration. */
export function importLiteLlm(source: unknown, world: ImportWorld): Imported {
  if (!isObject(source) || !Array.isArray(source['model_list'])) throw new Error('it has no model_list');
  const book = new ReportBook();
  const deployments = readDeployments(source['model_list'], world, book);
  const { entries, connectionOf } = makeEntries(deployments, world, book);
  const names = makeNames(source, deployments, connectionOf, book);
  const router = source['router_settings'];
  if (isObject(router) && router['routing_strategy'] === 'simple-shuffle')
    book.taken('router_settings.routing_strategy', 'models of an alias are drawn by weight');
  return { entries, ...names, book, report: () => book.finish(source, reasonFor) };
}

/** The reasons for what is left out, by where it stands. The first that fits counts. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^general_settings\.(?:master_key|.*_key)$/, 'The server has a token of its own (`blockhouse token`).'],
  [/^general_settings\.(?:database_|store_model_in_db|use_redis)/, 'Its virtual keys are in its database; `blockhouse key new` makes keys here.'],
  [/^general_settings\.(?:alerting|proxy_budget|user_api_key|max_budget)/, 'Keys have their own limits (`blockhouse key set`).'],
  [
    /^(?:litellm|router|general)_settings\.(?:success_|failure_)?callbacks?\b|\.(?:langfuse|otel|prometheus)/,
    'There are no callbacks; events and logs tell what happens.',
  ],
  [/\bcache(?:_params)?\b|redis/, 'There is no cache of answers.'],
  [/guardrails?|moderation/, 'There are no guardrails.'],
  [/^environment_variables\b/, 'Set variables where the server is started.'],
  [
    /^(?:litellm|router)_settings\.(?:num_retries|retry|allowed_fails|cooldown|request_timeout|timeout)/,
    'Repetitions and pauses are as docs/reliability.md says.',
  ],
  [/default_fallbacks|content_policy_fallbacks|fallbacks/, 'Only fallbacks of a named model are taken.'],
  [/\.(?:rpm|tpm)$/, 'Limits per minute are those of a key (`blockhouse key set --rpm`), and not of a model.'],
  [/vertex_|azure_ad_|aws_|client_secret|tenant_id/, 'This way to sign in is not known here.'],
  [/\.model_info\./, 'It describes the model for LiteLLM alone.'],
  [/\.litellm_params\./, 'No setting of a connection does this; a request may name it.'],
];

function reasonFor(path: string): string {
  return REASONS.find(([pattern]) => pattern.test(path))?.[1] ?? 'Blockhouse has no such setting.';
}
