// The files that are made from others, and whether those in the tree are what the sources say.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncApiDocument } from '../../transports/asyncapi.ts';
import { openApiDocument } from '../../transports/http/openapi/openapi.ts';
import { ROUTES } from '../../transports/http/routes.ts';
import { apiReport } from './api-report.ts';
import { fieldsPage } from './fields-page.ts';
import { observabilityPage } from './observability/page.ts';
import { grafanaDashboard } from './observability/panels.ts';
import { alertRules } from './observability/rules.ts';
import { schemaTypes } from './schema-types.ts';

interface Generated {
  readonly name: string;
  /** Its folder, seen from spec/. */
  readonly home: string;
  readonly text: () => string | Promise<string>;
}

/** A line for each operation and each schema, so that a change shows where it is: with a line for each value, the contract would be a large part of an install. */
const json = (value: unknown): string => `${linesOf(value, 3)}\n`;

function linesOf(value: unknown, depth: number): string {
  if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{\n${members.map(([name, member]) => `${JSON.stringify(name)}: ${linesOf(member, depth - 1)}`).join(',\n')}\n}`;
}

/** In this order, because the report reads core/types.ts. */
const GENERATED: readonly Generated[] = [
  { name: 'openapi.json', home: '.', text: () => json(openApiDocument(ROUTES)) },
  { name: 'asyncapi.json', home: '.', text: () => json(asyncApiDocument()) },
  { name: 'types.ts', home: '../core', text: schemaTypes },
  { name: 'api.txt', home: '.', text: apiReport },
  { name: 'fields.md', home: '../docs', text: fieldsPage },
  { name: 'observability.md', home: '../docs', text: observabilityPage },
  { name: 'grafana.json', home: '../docs/observability', text: () => `${JSON.stringify(grafanaDashboard(), null, 1)}\n` },
  { name: 'alerts.yaml', home: '../docs/observability', text: alertRules },
];

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export interface GenerateOptions {
  /** All without it. */
  readonly names?: readonly string[];
  /** In place of the folder of each. */
  readonly folder?: string | undefined;
  /** Writes nothing. */
  readonly checkOnly: boolean;
}

/** Writes them. Returns the paths of those that were not what the sources say, if it only checks. */
export async function generate({ names = [], folder, checkOnly }: GenerateOptions): Promise<string[]> {
  const stale: string[] = [];
  for (const { name, home, text: build } of GENERATED.filter((file) => names.length === 0 || names.includes(file.name))) {
    const path = join(folder ?? join(import.meta.dirname, '..', home), name);
    const text = await build();
    if (!checkOnly) writeFileSync(path, text);
    else if (textOf(path) !== text) stale.push(path);
  }
  return stale;
}
