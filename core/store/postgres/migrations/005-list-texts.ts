// What the list is searched for, in a table of its own: the row of an entry changes with each message, and its texts do not. Pure: no I/O.
//
// three-letters: the index has each three letters of a text that follow each other, in small letters. No extension is needed for it: three copies of the text, each cut into
//   threes from another letter on, have all of them. What is left at the ends is shorter, and does no harm. Character 1 is where one ends. Small letters are those of the database's language, as they are for `ilike` with a description.
export const GRAMS = (text: string): string => {
  const cut = (from: number): string => `regexp_replace(substr(lower((${text}) collate "default"), ${from}), '(...)', '\\1' || chr(1), 'g')`;
  return `string_to_array(${[1, 2, 3].map(cut).join(' || chr(1) || ')}, chr(1))`;
};

export const LIST_TEXTS = `
create table bh.entry_text (
  block_id bigint primary key references bh.block on delete cascade,
  name text collate "C" not null,
  description text not null
);
insert into bh.entry_text (block_id, name, description) select block_id, name, description from bh.block_entry;
create index entry_grams on bh.entry_text using gin ((${GRAMS('name || chr(1) || description')}));
`;
