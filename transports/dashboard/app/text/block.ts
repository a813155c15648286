// Words of block.
export {};
