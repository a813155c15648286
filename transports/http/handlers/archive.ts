// Handlers of `/api/archive`, and of export and import.
import type { RestoreArchive } from '../../../core/index.ts';
import { assertBytes, IMPORT_BODY_BYTES, OTHER_BODY_BYTES, readBytes, readJsonBody } from '../wire/body.ts';
import { queryValue } from '../wire/query.ts';
import { ok, Written } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

const GZIP = 'application/gzip';

/** `{archives}`, newest first. */
export const list = async ({ core }: RouteContext) => ok({ archives: await core.blocks.archives() });

/** `{success, message, name}`; the restored block is stopped. Fails with NAME_TAKEN, ARCHIVE_NOT_FOUND or AMBIGUOUS_ARCHIVE. */
export const restore = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, true);
  const { name } = await context.core.blocks.restore(param(context, 'name'), body as RestoreArchive);
  return ok({ success: true, message: `${name} was restored from the archive; its monitor is stopped.`, name });
};

/** `{success, message, name}`; a monitor that ran runs again. Fails with NAME_TAKEN. */
export const rename = async (context: RouteContext) => {
  const before = param(context, 'name');
  const { name } = await context.core.blocks.rename(before, await readJsonBody(context, OTHER_BODY_BYTES, false));
  return ok({ success: true, message: `${before} was renamed to ${name}.`, name });
};

/** `{success, message}`; the archive was permanently deleted. */
export const purge = async (context: RouteContext) => {
  const { archiveName } = await context.core.blocks.purge(param(context, 'name'));
  return ok({ success: true, message: `${archiveName} was permanently deleted.` });
};

/** The block as a gzipped tar. A block's name needs no escaping in a header. */
export const exportBlock = async (context: RouteContext) => {
  const name = param(context, 'name');
  const bytes = await context.core.blocks.export(name);
  return ok(new Written<Uint8Array>(bytes, GZIP), { 'content-disposition': `attachment; filename="${name}.tar.gz"` });
};

/** `{success, name, warnings?}`; the imported block is stopped. Fails with QUEUE_FULL when too many imports wait. */
export const importBlock = async (context: RouteContext) => {
  const wanted = queryValue(context.req, 'name');
  assertBytes(context.req, IMPORT_BODY_BYTES, GZIP); // a body with wrong headers is refused before it waits for a turn
  const receive = async () => context.core.blocks.import(await readBytes(context, IMPORT_BODY_BYTES, GZIP), wanted);
  const { name, warnings } = await context.server.imports.run(receive, context.signal);
  return ok({ success: true, name, ...(warnings.length > 0 && { warnings }) });
};
