// Reads YAML that others have written. The package is loaded with the first use.
//
// bounded: at most 1 MiB and 100 aliases are read, so that a small file can't grow into a large value.
// no-quotes: an error names the line and not the text there, which may be a key. Of an alias, it has the name.
// no-circle: a value that holds itself has no end, so an alias inside of what it names is refused.
const MAX_BYTES = 1024 * 1024;
const MAX_ALIASES = 100;
const MAX_NAME = 64;

/** The value. Rejects with an Error that says what is wrong. */
export async function parseYaml(bytes: Uint8Array): Promise<unknown> {
  if (bytes.length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
  const { isNode, parseDocument, visit } = await import('yaml');
  const text = new TextDecoder().decode(bytes);
  try {
    const document = parseDocument(text, { version: '1.1', prettyErrors: false, logLevel: 'silent' });
    const [fault] = document.errors;
    if (fault !== undefined) throw new SyntaxError(`line ${text.slice(0, fault.pos[0]).split('\n').length} is no valid YAML (${fault.code})`);
    visit(document, {
      Alias(_, alias, path) {
        const meant = alias.resolve(document);
        if (meant === undefined || !path.some((outer) => isNode(outer) && outer === meant)) return;
        const line = text.slice(0, alias.range?.[0] ?? 0).split('\n').length;
        const name = alias.source.slice(0, MAX_NAME);
        throw new SyntaxError(`line ${line} has the alias *${name} inside of &${name}, so it names itself; write there what is meant, or remove it`); // no-circle
      },
    });
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (error instanceof SyntaxError && /^line \d+ /.test(error.message)) throw error;
    if (error instanceof RangeError) throw new Error('it nests too deeply', { cause: error });
    if (error instanceof TypeError) throw error; // a defect of ours, which no change of the file would cure
    if (error instanceof ReferenceError) throw new Error(`it uses more than ${MAX_ALIASES} aliases, or one that is not there`, { cause: error });
    throw new Error('it is no valid YAML', { cause: error });
  }
}
