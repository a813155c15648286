// Words of events.
export {};
