/** Which columns of a table there is room for. Pure. */

interface Fitted {
  readonly width?: number;
  readonly wide?: true;
  readonly roomy?: true;
  readonly phone?: 1 | 2;
}

/** What is left at least for the column without a width, in pixels: with less its words would stand in the next one. */
const growMin = 140;

const widthOf = (columns: readonly Fitted[]): number =>
  columns.reduce((sum, { width = growMin }) => sum + width, 0);

/** Whether these have so many pixels as they need. */
export const fits = (columns: readonly Fitted[], room: number): boolean => widthOf(columns) <= room;

/**
 * The columns that fit into so many pixels, in their order. Where there is too little room, those that want much of it go first,
 * then those that a phone leaves out; of each kind the last one first. What a phone shows is always there.
 */
export function fitting<Column extends Fitted>(
  columns: readonly Column[],
  room: number,
): readonly Column[] {
  const roomy = columns.filter((column) => column.roomy === true);
  const wide = columns.filter(
    (column) => column.wide === true && column.phone === undefined && column.roomy !== true,
  );
  const left = new Set(columns);
  for (const column of [...roomy.toReversed(), ...wide.toReversed()]) {
    if (fits([...left], room)) break;
    left.delete(column);
  }
  return columns.filter((column) => left.has(column));
}
