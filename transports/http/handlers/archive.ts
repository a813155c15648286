// `/api/archive`, and blocks as files: export and import.
import { assertBytes, IMPORT_BODY_BYTES, OTHER_BODY_BYTES, readBytes, readJsonBody } from '../body.ts';
import { queryValue } from '../query.ts';
import { ok, Written } from '../reply.ts';
import { param, type RouteContext } from '../route.ts';

const GZIP = 'application/gzip';

export const list = async ({ core }: RouteContext) => ok({ archives: await core.blocks.archives() });

export const restore = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, true);
  const { name } = await context.core.blocks.restore(param(context, 'name'), body);
  return ok({ success: true, message: `${name} is back from the archive, stopped.`, name });
};

export const purge = async (context: RouteContext) => {
  const { archiveName } = await context.core.blocks.purge(param(context, 'name'));
  return ok({ success: true, message: `${archiveName} is deleted for good.` });
};

/** A name that a block has is fit for a header. */
export const exportBlock = async (context: RouteContext) => {
  const name = param(context, 'name');
  const bytes = await context.core.blocks.export(name);
  return ok(new Written<Uint8Array>(bytes, GZIP), { 'content-disposition': `attachment; filename="${name}.tar.gz"` });
};

export const importBlock = async (context: RouteContext) => {
  const wanted = queryValue(context.req, 'name');
  assertBytes(context.req, IMPORT_BODY_BYTES, GZIP); // what is refused by its headers does not wait for a turn
  const receive = async () => context.core.blocks.import(await readBytes(context, IMPORT_BODY_BYTES, GZIP), wanted);
  const { name } = await context.server.imports.run(receive, context.signal);
  return ok({ success: true, name });
};
