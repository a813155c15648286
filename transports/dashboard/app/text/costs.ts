// Words of costs.
export {};
