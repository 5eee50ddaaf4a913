/**
 * The mutants of one file: operators, conditions and returned values, each changed alone. They are found in the syntax tree of
 * vitest's parser. Code that runs once on import (tables, constants) and types have none.
 */
import { parseAst } from "vitest/node";
import { changesOf, type Node } from "./changes.ts";

export interface Mutant {
  /** A name that is stable while the line is unchanged: path, line of code, change, and a counter for equal ones. */
  readonly id: string;
  readonly file: string;
  readonly line: number;
  /** The offsets of the changed expression in the file's text. */
  readonly start: number;
  readonly end: number;
  readonly from: string;
  readonly to: string;
}

const functions = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
/** TypeScript nodes that only wrap a value. */
const wrappers = /^(?:TSAsExpression|TSSatisfiesExpression|TSNonNullExpression)$/;
const types =
  /^(?:typeAnnotation|returnType|typeParameters|typeArguments|superTypeArguments|implements)$/;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

/**
 * Calls `visit` with every node that has a value and does not run on import, outermost first. Functions passed to a call on import
 * are assumed to run then.
 */
function walk(node: Node, isInside: boolean, visit: (node: Node) => void): void {
  if (node.type.startsWith("TS") && !wrappers.test(node.type)) return;
  if (isInside) visit(node);
  const isCall = /^(?:Call|New)Expression$/.test(node.type);
  for (const [key, value] of Object.entries(node)) {
    if (types.test(key)) continue;
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child)) walk(child, isInside || (runsLater(child) && !isCall), visit);
  }
}

const runsLater = ({ type, ...node }: Node): boolean =>
  functions.test(type) || (type === "PropertyDefinition" && node["static"] !== true);

/** Text without line breaks. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** All mutants of a file, in the order of the text. */
export function mutantsOf(file: string, text: string): readonly Mutant[] {
  const found: Mutant[] = [];
  const seen = new Map<string, number>();
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lineOf = (offset: number) => lineStarts.findLastIndex((start) => start <= offset);
  const program = parseAst(text, { lang: "ts", sourceType: "module" }) as unknown as Node;
  walk(program, false, (node) => {
    for (const { target, to } of changesOf(node, text)) {
      const { start, end } = target;
      const line = lineOf(start);
      const code = oneLine(text.slice(lineStarts[line], lineStarts[line + 1]));
      const from = oneLine(text.slice(start, end));
      const name = `${file} | ${code} | ${from} => ${oneLine(to)}`;
      const nth = (seen.get(name) ?? 0) + 1;
      seen.set(name, nth);
      const id = nth === 1 ? name : `${name} | ${nth}`;
      found.push({ id, file, line: line + 1, start, end, from, to });
    }
  });
  return found;
}
