// The folder of the built page, for `createHttpTransport(core, { dashboard })`.

/** The folder that the build of the page writes. */
export const dashboard = new URL('../../dashboard/', import.meta.url);
