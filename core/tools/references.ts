// References in an entry of mcp.json: `${auth:server.field}` to auth.json, `${env:NAME}`, `${NAME}` and `${NAME:-text}` to the environment. Pure: no I/O.
//
// not-ours: the variables of Blockhouse and those with keys of providers are given to no server.

const REFERENCE = /\$\{([^{}]*)\}/g;
const SECRET = /^auth:([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.([A-Za-z0-9_-]{1,64})$/;
const VARIABLE = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]{0,127})(?::-(.*))?$/s;

/** What references can lead to. */
export interface Sources {
  /** The value of a secret of auth.json. */
  secret(server: string, field: string): string | undefined;
  /** The value of a variable. */
  variable(name: string): string | undefined;
  /** Variables that no server gets (not-ours). */
  isWithheld(name: string): boolean;
}

/** A text with its references followed, and the values that were put in. Throws an Error that says which one leads nowhere, and what to do. */
export function resolved(text: string, sources: Sources, values: string[]): string {
  return text.replace(REFERENCE, (whole, inner: string) => {
    const value = valueAt(whole, inner, sources);
    values.push(value);
    return value;
  });
}

function valueAt(whole: string, inner: string, { secret, variable, isWithheld }: Sources): string {
  const [, server, field] = SECRET.exec(inner) ?? [];
  if (server !== undefined && field !== undefined) {
    const value = secret(server, field);
    if (value === undefined) throw new Error(`its secret ${server}.${field} is not stored; store it: \`blockhouse tools secret set ${server}.${field}\``);
    return value;
  }
  const [, name, fallback] = VARIABLE.exec(inner) ?? [];
  if (name === undefined) throw new Error(`${whole.slice(0, 100)} is no reference; write \${auth:server.field}, \${env:NAME} or \${NAME}`);
  if (isWithheld(name))
    throw new Error(
      `the variable ${name} belongs to Blockhouse or a provider, and no server gets it; store the secret that it is to have, and write \${auth:server.field}`,
    );
  const value = variable(name) ?? fallback;
  if (value === undefined) throw new Error(`the variable ${name} is not set where Blockhouse runs; set it, or store a secret and write \${auth:server.field}`);
  return value;
}

/** The secrets that texts refer to, as `server.field`, each once. */
export function secretsNamedIn(texts: readonly string[]): { readonly server: string; readonly field: string }[] {
  const named = new Map<string, { server: string; field: string }>();
  for (const text of texts) {
    for (const [, inner = ''] of text.matchAll(REFERENCE)) {
      const [, server, field] = SECRET.exec(inner) ?? [];
      if (server !== undefined && field !== undefined) named.set(`${server}.${field}`, { server, field });
    }
  }
  return [...named.values()];
}

/** The names of the variables that texts refer to. */
export function variablesNamedIn(texts: readonly string[]): ReadonlySet<string> {
  const inner = texts.flatMap((text) => Array.from(text.matchAll(REFERENCE), ([, reference = '']) => reference));
  return new Set(inner.flatMap((reference) => (SECRET.test(reference) ? [] : (VARIABLE.exec(reference)?.[1] ?? []))));
}

/** A text with those texts in place of its references that stand there for a variable which is not set. */
export function withFallbacks(text: string): string {
  return text.replace(REFERENCE, (_whole, reference: string) => (SECRET.test(reference) ? '' : (VARIABLE.exec(reference)?.[2] ?? '')));
}

/** What stands in a text besides references. */
export function withoutReferences(text: string): string {
  return text.replace(REFERENCE, '');
}
