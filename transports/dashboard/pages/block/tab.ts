// What each tab of a block gets.

export interface TabProps {
  readonly name: string;
}
