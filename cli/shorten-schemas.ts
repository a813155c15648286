// The declarations of the schemas, as the package has them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The compiler writes each schema out as a type of its own, which was a twelfth of the package. Nobody needs that: the types of what a schema describes are in types.d.ts.
 * What another type is made of stays as it is.
 */
export function shortenSchemas(folder: string): void {
  const files = readdirSync(folder).filter((each) => each.endsWith('.d.ts'));
  const texts = new Map(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  const needed = new Set([...texts.values()].flatMap((text) => [...text.matchAll(/typeof (\w+)/g)].map(([, name]) => name)));
  for (const [name, text] of texts) {
    const short = text.replace(/^(export declare const (\w+): )\{\n[\s\S]*?^\};$/gm, (whole, begin: string, schema: string) =>
      needed.has(schema) ? whole : `${begin}Readonly<Record<string, unknown>>;`,
    );
    writeFileSync(join(folder, name), short);
  }
}
