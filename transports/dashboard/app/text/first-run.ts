// Words of first run.
export {};
