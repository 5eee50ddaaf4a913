/** Chooses the table columns that fit the width. Pure. */

interface Fitted {
  readonly width?: number;
  readonly wide?: true;
  readonly roomy?: true;
  readonly phone?: 1 | 2;
}

/** Minimum width of the column without a width, in pixels: with less, its text would overlap the next column. */
const growMin = 140;

const widthOf = (columns: readonly Fitted[]): number =>
  columns.reduce((sum, { width = growMin }) => sum + width, 0);

/** True if these columns fit into this width, in pixels. */
export const fits = (columns: readonly Fitted[], room: number): boolean => widthOf(columns) <= room;

/**
 * Returns the columns that fit into a width in pixels, in order. If it is too small, `roomy` columns go first, then those that phones
 * leave out; within each kind, from the last on. Columns shown on phones always stay.
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
