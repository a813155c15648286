// Words of playground.
export {};
