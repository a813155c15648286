// Writes the files that are made from others: the published contract and core/types.ts from the schemas, the report of the public types from the
// declarations, and the page of the fields from the adapters. Names of files restrict it to these; `--check` only says whether they are fresh.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncApiDocument } from '../transports/asyncapi.ts';
import { openApiDocument } from '../transports/http/openapi/openapi.ts';
import { ROUTES } from '../transports/http/routes.ts';
import { apiReport } from './support/api-report.ts';
import { fieldsPage } from './support/fields-page.ts';
import { observabilityPage } from './support/observability/page.ts';
import { grafanaDashboard } from './support/observability/panels.ts';
import { alertRules } from './support/observability/rules.ts';
import { schemaTypes } from './support/schema-types.ts';

interface Generated {
  readonly name: string;
  /** Its folder, seen from here; another one with `--folder`. */
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

const given = process.argv.slice(2);
const folder = given.find((argument) => argument.startsWith('--folder='))?.slice('--folder='.length);
const checkOnly = given.includes('--check');
const names = given.filter((argument) => !argument.startsWith('--'));

for (const { name, home, text: build } of GENERATED.filter((file) => names.length === 0 || names.includes(file.name))) {
  const path = join(folder ?? join(import.meta.dirname, home), name);
  const text = await build();
  if (!checkOnly) writeFileSync(path, text);
  else if (textOf(path) !== text) {
    process.stderr.write(`${path} is not what the sources say; run \`npm run generate\`.\n`);
    process.exitCode = 1;
  }
}
