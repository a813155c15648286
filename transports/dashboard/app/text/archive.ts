// Words of archive.
export {};
