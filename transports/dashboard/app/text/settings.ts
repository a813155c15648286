// Words of settings.
export {};
