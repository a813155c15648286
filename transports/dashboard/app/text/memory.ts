// Words of memory.
export {};
