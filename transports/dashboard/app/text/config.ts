// Words of config.
export {};
