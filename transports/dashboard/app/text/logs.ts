// Words of logs.
export {};
