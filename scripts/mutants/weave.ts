/**
 * Compiles mutants into a source file, each behind a switch: `E` becomes `(globalThis.$mutant(7) ? (changed) : (E))`. One
 * process then runs any number of them, by turning switches.
 */

export interface Switched {
  /** The argument of the switch. */
  readonly number: number;
  readonly start: number;
  readonly end: number;
  readonly to: string;
}

/** The text with all these mutants in it. No line moves, except for changed expressions of several lines. */
export function weave(text: string, mutants: readonly Switched[]): string {
  const sorted = mutants.toSorted((a, b) => a.start - b.start || b.end - a.end);
  let next = 0;

  /** The text between two offsets, with the mutants inside. */
  function woven(from: number, to: number): string {
    let out = "";
    let at = from;
    while (next < sorted.length && sorted[next]!.end <= to) {
      const { start, end } = sorted[next]!;
      const here: Switched[] = [];
      while (sorted[next]?.start === start && sorted[next]?.end === end) here.push(sorted[next++]!);
      out += text.slice(at, start);
      const switches = here.map((one) => `globalThis.$mutant(${one.number}) ? (${one.to}) : `);
      out += `(${switches.join("")}(${woven(start, end)}))`;
      at = end;
    }
    return out + text.slice(at, to);
  }
  return woven(0, text.length);
}
