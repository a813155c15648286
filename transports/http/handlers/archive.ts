// `/api/archive`, and blocks as files: export and import.
import { IMPORT_BODY_BYTES, OTHER_BODY_BYTES, readBytes, readJsonBody } from '../body.ts';
import { queryValue } from '../query.ts';
import { ok, Written } from '../reply.ts';
import { type Handler, param } from '../router.ts';

const GZIP = 'application/gzip';

export const list: Handler = async ({ core }) => ok({ archives: await core.blocks.archives() });

export const restore: Handler = async (context) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, true);
  const { name } = await context.core.blocks.restore(param(context, 'name'), body);
  return ok({ success: true, message: `${name} is back from the archive, stopped.`, name });
};

export const purge: Handler = async (context) => {
  const { archiveName } = await context.core.blocks.purge(param(context, 'name'));
  return ok({ success: true, message: `${archiveName} is deleted for good.` });
};

/** A name that a block has is fit for a header. */
export const exportBlock: Handler = async (context) => {
  const name = param(context, 'name');
  const bytes = await context.core.blocks.export(name);
  return ok(new Written(bytes, GZIP), { 'content-disposition': `attachment; filename="${name}.tar.gz"` });
};

export const importBlock: Handler = async (context) => {
  const wanted = queryValue(context.req, 'name');
  const { name } = await context.core.blocks.import(await readBytes(context, IMPORT_BODY_BYTES, GZIP), wanted);
  return ok({ success: true, name });
};
